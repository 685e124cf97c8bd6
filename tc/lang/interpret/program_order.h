#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/tree.h"

namespace tc::lang {

/// Calls \p run for the statements of \p def, one without calls, in the order of the program: with the statement's number and its
/// ranges for \p sizes. A statement in loops comes once for each of their iterations; the range of a loop's index is that
/// one value.
///
///   for t in 0:2 { A(t,i) = ...  B(t,i) = ... }      A with t in 0:1, B with t in 0:1, A with t in 1:2, B with t in 1:2
void in_program_order(const Def& def, const Ranges& ranges, const SizeMap& sizes,
                      const std::function<void(std::size_t, const std::map<std::string, Range>&)>& run);

}  // namespace tc::lang
