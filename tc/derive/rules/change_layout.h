#pragma once

#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

/// Data-layout transformation of what a scope reads: a copy whose dimensions are \p order, iterators of the scope.
///
///   before  O(h) +=! X(h + k) * W(k)        after  C(h, k) = X(h + k)   O(h) +=! C(h, k) * W(k)
///
/// Where \p read is beyond its tensor the copy holds the fill. Throws Refusal where \p order is not all that read \p read,
/// which no other factor may hold, depends on, but for iterators of one value.
Step copy_operand(const Program& program, const std::string& tensor, std::size_t read, const std::vector<int>& order);

/// The same of a tensor that a scope defines: its dimensions in the order \p order.
///
///   before  O(r, x) = f(r, x)        after  T(x, r) = f(r, x)   O(r, x) = T(x, r)
Step reorder_dimensions(const Program& program, const std::string& tensor, const std::vector<int>& order);

/// \p program with each tensor between scopes in the order of dimensions of what it is an element-wise function of; the steps one after
/// another.
///
///   before  E(i, j) = exp(X(j, i))   O(j, i) = 2 * E(i, j)        after  E(j, i) = exp(X(j, i))   O(j, i) = 2 * E(j, i)
std::vector<Step> follow_orders(const Program& program);

}  // namespace tc::derive
