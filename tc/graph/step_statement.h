#pragma once

#include <set>

#include "tc/graph/bound_steps.h"

namespace tc::graph {

/// The call of \p step over the names of the graph's tensors.
///
///   before  B = fc(X, W)      after  B_1 = fc(A, W)
lang::Statement call_statement(const BoundSteps& steps, const Step& step);

/// The statement of \p step, whose frame has begun, over the names of the graph's tensors, sizes as numbers; those of
/// the tensors of \p written, which one node writes with it, are left. Iterators that are called as a tensor get another
/// name, those that only the declaration of a return bounds a range.
///
///   before  Y(i) = B(i) * N where i in 1:N      after, N = 4  Y_1(i) = B_1(i) * int64(4) where i in 1:4
lang::Statement step_statement(const BoundSteps& steps, const Step& step, const std::set<std::size_t>& written);

}  // namespace tc::graph
