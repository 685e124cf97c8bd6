#pragma once

#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

/// Distributive factoring of a sum of products: read \p read of the body of \p tensor leaves all terms() of which it is a factor; the sum
/// of what is left of them becomes a tensor of its own.
///
///   before  O(m, n) +=! X(m, k) * A(k, n) + X(m, k) * B(k, n)        after  T(n, k) = A(k, n) + B(k, n)   O(m, n) +=! X(m, k) * T(n, k)
///
/// Any two operators of which the one distributes over the other. Throws Refusal where that is a factor of fewer than two terms, or
/// what is left of them depends on all iterators.
Step factor_sum(const Program& program, const std::string& tensor, std::size_t read);

/// All of them.
std::vector<Step> sum_factorings(const Program& program);

}  // namespace tc::derive
