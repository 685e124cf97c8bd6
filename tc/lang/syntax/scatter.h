#pragma once

#include <optional>
#include <vector>

#include "tc/lang/syntax/tree.h"

namespace tc::lang {

/// What a reduction by \p op of values of \p type begins with, as the parser would give it: 0, 1, true, false, infinities
/// as 1.0 / 0.0, the extremes of integers with their type.
ExprPtr identity_value(ReductionOp op, DType type);

/// subscripts[d] == indices[d] for each d where they differ, joined by &&; null if they never do. \p subscripts are
/// checked; the conversions to int64 that they need are written out, so that the condition means the same when it is
/// checked.
ExprPtr scatter_condition(const std::vector<ExprPtr>& subscripts, const std::vector<ExprPtr>& indices);

/// The scatter that \p assignment, checked, was in the text; nothing for other assignments. print() writes it so, and equal()
/// takes the two for one.
///
///   before  T(p, d) += I(l) == p ? X(l, d) : 0 where exists T(I(l), d)      after  T(I(l), d) += X(l, d)
std::optional<Assignment> as_scatter(const Assignment& assignment);

}  // namespace tc::lang
