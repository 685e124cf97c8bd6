#pragma once

#include "tc/strategy/price/priced_cluster.h"
#include "tc/strategy/price/statement_nest.h"

namespace tc::strategy {

/// Of the steps of \p nest, the loops around \p statement, those in which something is added, and what conditions add to them, of
/// the time of a step. Where neither the innermost loop nor lanes change any, they choose among loops of what is left of a step;
/// else they are asked in each.
///
///   for r: for s: for c: acc[0..3] += w + s in image ? X(..., w + s) * K(c, s) : 0     s chooses: 3 of 4 points at a border
///   for r: for s:        acc[0..3] += ...                                              each s asks 4 times at a border
double guarded_steps(const PricedStatement& statement, const StatementNest& nest);

/// Do lanes of a vector of \p statement have conditions of their own?
bool masks_lanes(const PricedStatement& statement, const StatementNest& nest);

/// Are conditions of \p statement asked in each step?
bool asks_in_each_step(const PricedStatement& statement, const StatementNest& nest);

}  // namespace tc::strategy
