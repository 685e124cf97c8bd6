#pragma once

#include "tc/strategy/price/nest_walk.h"
#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// The share of the steps of \p nest, the loops around \p statement, in which something is added, plus the cost of
/// conditions relative to a step. If neither the innermost loop nor lanes change a condition, the conditions select a
/// specialised loop; otherwise they are tested in each step.
///
///   for r: for s: for c: acc[0..3] += w + s in image ? X(..., w + s) * K(c, s) : 0     s chooses: 3 of 4 points at a border
///   for r: for s:        acc[0..3] += ...                                              each s asks 4 times at a border
double guarded_steps(const PricedStatement& statement, const StatementWalk& nest);

/// Do conditions differ between the lanes of a vector of \p statement?
bool masks_lanes(const PricedStatement& statement, const StatementWalk& nest);

/// Are conditions of \p statement tested in each step?
bool asks_in_each_step(const PricedStatement& statement, const StatementWalk& nest);

}  // namespace tc::strategy
