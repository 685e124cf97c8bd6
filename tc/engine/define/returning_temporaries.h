#pragma once

#include <memory>

#include "tc/engine/define/function.h"

namespace tc::engine {

/// The function of \p function's text, calls written out, that returns its temporaries too, behind its returns and in the
/// order in which statements write them first; \p function itself where there are none.
///
///   def f(float(N) X) -> (Y) { S(i) = X(i)  Y(i) = S(i) }     def f(float(N) X) -> (Y, S) { S(i) = X(i)  Y(i) = S(i) }
///
/// Throws SemanticError and ResourceError as inlined() does.
std::shared_ptr<const Function> returning_temporaries(const std::shared_ptr<const Function>& function);

}  // namespace tc::engine
