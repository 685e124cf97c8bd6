#pragma once

#include "tc/base/target.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/strategy/cost/vector_cost.h"

namespace tc::strategy {

/// The order in which a reduction accumulates where MappingOptions::batch_invariant holds: a function of the extents of its reduced
/// iterators, of how its accesses are written, and of the vectors that \p target has, so that a result has the same bits whatever the
/// extents of other iterators are.
struct FixedOrder {
  VectorChoice lanes;  ///< along a reduced iterator; iterator -1: terms come one after the other
  int vectors = 1;     ///< in flight along it

  /// Do vectors run along a reduced iterator?
  bool along_lanes() const { return lanes.iterator >= 0; }
};

/// Do \p options fix the order in which \p statement accumulates, whose sums are rounded: floating-point numbers?
bool has_fixed_order(const polyhedral::Scop& scop, const polyhedral::Statement& statement,
                     const polyhedral::MappingOptions& options);

/// The order for \p statement, for which has_fixed_order() holds. Lanes run along the last reduced iterator along which every read is
/// contiguous or constant and that is long enough; along none where an iterator of the result has such reads and such a write. Several
/// vectors are in flight where no operand is shared by results, as then no tile of results hides the latency of a sum.
///
///   Y(n,o) +=! X(n,i) * W(o,i)     lanes along i                    Y(n,o) +=! X(n,i) * W(i,o)     one after the other
///   Z(n) +=! X(n,i)                lanes along i, four vectors      Z(i) +=! X(n,i)                one after the other
FixedOrder fixed_order(const polyhedral::Scop& scop, const polyhedral::Statement& statement, const Target& target);

}  // namespace tc::strategy
