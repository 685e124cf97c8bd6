#pragma once

#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

/// Expression merging: two tensors of one form, neither of which needs the other, become parts of one. With \p dimension
/// they lie behind each other along it, else they are the two elements of a first dimension. Operands that differ are
/// copied so too; those that are the same are shared.
///
///   before  Q(m, n) +=! X(m, k) * A(k, n)   K(m, n) +=! X(m, k) * B(k, n)
///   after   C(n, k) = n < 8 ? A(k, n) : B(k, n - 8)   T(m, n) +=! X(m, k) * C(n, k)   Q(m, n) = T(m, n)   K(m, n) = T(m, n + 8)
///
/// Throws Refusal where the forms, the boxes of all other iterators, or the types differ.
Step merge_expressions(const Program& program, const std::string& first, const std::string& second,
                       std::optional<int> dimension);

/// All merges of sums of products: along a dimension where an operand is shared, side by side else.
std::vector<Step> expression_merges(const Program& program);

}  // namespace tc::derive
