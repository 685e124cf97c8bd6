#pragma once

#include "tc/lang/syntax/tree.h"

/// Operators and ranges that are short for others.
namespace tc::lang {

/// Is \p range, typed, another one for each instance: do its bounds read elements, or name other indices?
bool differs_by_instance(const RangeClause& range);

/// Has a statement of \p def, checked, such a range?
bool has_instance_ranges(const Def& def);

/// The typed \p expr without operators that others say as well, so that ranges, dependences and gradients see through them:
///
///   before  ~x        x << 3   x >> 3   x & 7   x ** 3 of integers   x ** y
///   after   -x - 1    x * 8    x / 8    x % 8   x * (x * x)          pow(x, y)
///
/// Each is exact for every value of the type. What no arithmetic says, as `x >> n` and `x & 5`, stays as it is.
ExprPtr without_short_forms(const ExprPtr& expr);
/// The same in all of \p statement, and ranges of reductions that elements or other indices bound as conditions:
///
///   before  Y(r) += X(j) where j in P(r):P(r+1)
///   after   Y(r) += j >= P(r) && j < P(r+1) ? X(j) : 0 where exists j in P(r):P(r+1)
Statement without_short_forms(const Statement& statement);
/// \p def with the same done in its statements.
Def without_short_forms(Def def);

}  // namespace tc::lang
