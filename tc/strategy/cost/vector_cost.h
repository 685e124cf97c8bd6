#pragma once

#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/scop.h"

namespace tc::strategy {

/// Lanes of one vector for the widest type \p statement computes with. Integers that stay the same along its iterator
/// \p along do not count, as what is computed of them alone, subscripts for example, is not computed in vectors.
int vector_lanes(const polyhedral::Scop& scop, const polyhedral::Statement& statement, const Target& target,
                 int along = -1);

struct VectorChoice {
  int iterator = -1;  ///< -1: scalar is cheapest
  int lanes = 0;      ///< a power of two, not much more than the extent
  double cost = 0;    ///< of one instance, in accesses
};

/// Of a reduction that runs in a register tile: its accumulators see memory once, and reads may be copied first.
struct CopiedReads {
  std::vector<std::int64_t> uses;  ///< how often the copy of each read is used; 0: it cannot be copied; empty: none can
  std::int64_t reduced = 1;        ///< instances that go into one result while it is in a register
};

/// The iterator among \p candidates along which the accesses of \p statement are cheapest: constant ones are nearly
/// free, contiguous ones cost a lane's share, up to two where vectors cross cache lines, others (gathers and scatters)
/// as much as scalar ones. The last of equals wins.
VectorChoice best_vector(const polyhedral::Scop& scop, const polyhedral::Statement& statement,
                         const std::vector<int>& candidates, const Target& target, const CopiedReads& copies = {});

}  // namespace tc::strategy
