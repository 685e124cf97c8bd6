#pragma once

#include <optional>
#include <vector>

#include "tc/lang/syntax/tree.h"

namespace tc::lang {

/// What a reduction by \p op of values of \p type begins with, as the parser would give it: 0, 1, true, false, infinities
/// as 1.0 / 0.0, the extremes of integers with their type.
ExprPtr identity_value(ReductionOp op, DType type);

/// \p subscript, checked, with the conversions to int64 that it needs written out, so that a comparison of it with an index means
/// the same when it is checked again.
ExprPtr comparable_with_index(const ExprPtr& subscript);

/// subscripts[d] == indices[d] for each d where they differ, joined by &&; null if they never do. \p subscripts are
/// checked, and stand there as comparable_with_index().
ExprPtr scatter_condition(const std::vector<ExprPtr>& subscripts, const std::vector<ExprPtr>& indices);

/// The scatter that \p assignment, checked, was in the text; nothing for other assignments. print() writes it so, and equal()
/// takes the two for one.
///
///   before  T(p, d) += I(l) == p ? X(l, d) : 0 where exists T(I(l), d)      after  T(I(l), d) += X(l, d)
std::optional<Assignment> as_scatter(const Assignment& assignment);

}  // namespace tc::lang
