#pragma once

#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

/// Two terms() of the body that defines \p tensor, \p first and \p second, which are sums of products of two elements, become one sum over
/// the ranges of both behind each other, of operands that are joined along it.
///
///   before  P(m,n) +=! X(m,k) * A(k,n)   Q(m,n) +=! Y(m,l) * B(l,n)   O(m,n) = P(m,n) + Q(m,n)
///   after   C(m,k) = k < 8 ? X(m,k) : Y(m,k-8)   D(n,k) = k < 8 ? A(k,n) : B(k-8,n)   O(m,n) +=! C(m,k) * D(n,k)
///
/// \p order says which summed iterator of the first each of the second is; they lie behind each other along number \p joint, and run over
/// the same along all others. Numbers that multiply a sum go into its operands. Any operator that sums. Throws Refusal where the two have
/// another form, guards other than those that keep reads inside of their tensors, or are read elsewhere.
Step join_sums(const Program& program, const std::string& tensor, std::size_t first, std::size_t second,
               const std::vector<int>& order, int joint);

/// Those of sums that share no operand.
std::vector<Step> sum_joins(const Program& program);

}  // namespace tc::derive
