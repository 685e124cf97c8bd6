#pragma once

#include <functional>

#include "tc/lang/ranges.h"
#include "tc/lang/tree.h"

namespace tc::lang {

/// \p def of the checked \p file with every call replaced by the callee's statements under fresh names, and every let
/// replaced by its value (`exists` and `in` clauses stay).
///
///   before: A = f(X)  B(i) = A(i) * c where c = s + 1       after: A_1(i) = ... X ...  B(i) = A_1(i) * (s + 1)
///
/// A callee's result whose inferred min is not literally 0 is copied to a tensor that starts at 0; \p ranges_of gives
/// the callee's ranges. Sizes of the callee become sizes of the arguments (T.d). The result is checked and prints as
/// TC.
Def inline_calls(const Def& def, const File& file, const std::function<Ranges(const Def&)>& ranges_of);

}  // namespace tc::lang
