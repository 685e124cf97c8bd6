#pragma once

#include <set>

#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

/// Distributive factoring and reassociation: the factors \p inner of the products that the scope of \p tensor sums, and
/// the sums over what they alone depend on, become a tensor of their own. Factors count as factors() gives them.
///
///   before  O(m, n) +=! A(m, k) * B(k, l) * C(l, n)     after  T(k, n) +=! B(k, l) * C(l, n)   O(m, n) +=! A(m, k) * T(k, n)
///   before  O(x) +=! a(x) * b(x, s)                     after  T(x) +=! b(x, s)   O(x) = a(x) * T(x)
///
/// Any two operators of which the one distributes over the other. Throws Refusal where \p inner is not some of several
/// factors, nothing is summed in them alone, or the instances are no product of both.
Step reassociate(const Program& program, const std::string& tensor, const std::set<std::size_t>& inner);

/// All of them.
std::vector<Step> reassociations(const Program& program);

}  // namespace tc::derive
