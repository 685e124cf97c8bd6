#pragma once

#include <string>

#include "tc/derive/form/program.h"

namespace tc::derive {

/// \p program as a def, which parses, checks and gives the program back. Iterators have their ranges; reads of a tensor
/// beyond its box, which are 0, and other instances that there are not, become guards. What no tensor
/// gives a type has one: a return in the head, a temporary at its literals.
///
///   L_h Σ_k X[h + k - 1] W[k], X in [0, 7)     O(h) +=! h + k - 1 >= 0 && h + k - 1 < 7 ? X(h + k - 1) * W(k) : 0 where h in 0:7, k in 0:3
lang::Def to_def(const Program& program);
/// The same as text.
std::string to_text(const Program& program);
/// One scope of \p program as a line of text.
std::string to_text(const Program& program, const Scope& scope);

}  // namespace tc::derive
