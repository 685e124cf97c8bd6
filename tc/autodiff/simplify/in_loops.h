#pragma once

#include <functional>
#include <vector>

#include "tc/autodiff/reverse/step.h"

namespace tc::autodiff {

/// Called for a statement of the def whose adjoint no loop computes in order.
using NoOrder = std::function<void(lang::SourceRange place)>;

/// Puts adjoint steps in an order in which elements are computed before they are read. Steps that depend on each other in a cycle
/// (Allen and Kennedy: level by level, what a loop does not carry is taken out of it) stand in a loop, numbered from \p first_loop.
/// Its index counts the iterations of the def's loop from the last: what the loop computes is kept in that order.
///
///   d(t,n) = g(t,n) + (t + 1 < T ? a(n) * d(t+1,n) : 0)     d_X(t,n) = d(t,n)
///
///   for t in 0:T { d(t,n) = g(T-1-t,n) + (t >= 1 ? a(n) * d(t-1,n) : 0) }     d_X(t,n) = d(T-1-t,n)
std::vector<Step> in_loops(std::vector<Step> steps, int first_loop, FreshNames& names, const NoOrder& no_order);

/// Gives tensors that a loop reads before the statement that writes them their types and sizes by a statement before the loop.
///
///   for t { A(t) = f(B(t-1))  B(t) = g(A(t)) }     becomes     B(t) = 0 where t in 0:T   for t { ... }
std::vector<Step> with_first_values(const std::vector<Step>& steps);

}  // namespace tc::autodiff
