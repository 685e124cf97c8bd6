#pragma once

#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

/// Two terms() of the body that defines \p tensor, \p first and \p second, which are sums times numbers, become one sum of both. \p
/// order says which summed iterator of the first each of the second is.
///
///   before  P(x) +=! f(x, k)   Q(x) +=! g(x, l)   O(x) = P(x) + 2 * Q(x)   after  O(x) +=! f(x, k) + 2 * g(x, k)
///   before  the same, and O(x) = P(x) + Q(x) + b(x)                         after  T(x) +=! f(x, k) + g(x, k)   O(x) = b(x) + T(x)
///
/// Any operator that sums. Throws Refusal where the two are summed over different instances, by different operators, or are
/// read elsewhere.
Step merge_sums(const Program& program, const std::string& tensor, std::size_t first, std::size_t second,
                const std::vector<int>& order);

/// Those of sums that share a factor.
std::vector<Step> sum_merges(const Program& program);

}  // namespace tc::derive
