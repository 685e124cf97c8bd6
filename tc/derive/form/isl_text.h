#pragma once

#include <string>
#include <vector>

#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/tree.h"
#include "tc/polyhedral/core/isl.h"

/// TC's index expressions as isl's sets and functions over dimensions [i0, i1, ...].
namespace tc::derive {

/// "i0", ..., one for each of \p count dimensions from \p first on.
std::vector<std::string> dimension_names(int count, int first = 0);
/// Dimensions \p first, first + 1, ..., \p count of them.
std::vector<int> run_of(int first, int count);
/// "[i0, i1]".
std::string tuple_text(int count);

/// { [i0, ...] : i0 in box[0], ... }
isl::set box_set(isl::ctx ctx, const lang::Box& box);
/// { [i0, ...] -> [values[0], ...] } with \p values in isl's words over \p dimensions dimensions.
isl::multi_aff function(isl::ctx ctx, int dimensions, const std::vector<std::string>& values);
/// The dimensions \p kept of \p dimensions ones, in that order.
isl::multi_aff projection(isl::ctx ctx, int dimensions, const std::vector<int>& kept);
/// { [i0, ...] -> [values[0], ...] } with index expressions over \p iterators. Throws Refusal for one that is not quasi-affine.
isl::multi_aff index_function(isl::ctx ctx, const std::vector<lang::ExprPtr>& values,
                              const std::vector<std::string>& iterators);
/// { [i0, ...] : condition }. Throws Refusal for a condition on other things than indices.
isl::set condition_set(isl::ctx ctx, const lang::ExprPtr& expr, const std::vector<std::string>& iterators);

}  // namespace tc::derive
