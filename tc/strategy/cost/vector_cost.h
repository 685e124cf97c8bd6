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

/// Vectors of \p statement along each of \p candidates that has more than one iteration.
std::vector<VectorChoice> possible_vectors(const polyhedral::Scop& scop, const polyhedral::Statement& statement,
                                           const std::vector<int>& candidates, const Target& target);

/// The iterator among \p candidates along which the accesses of \p statement are cheapest: constant ones are nearly
/// free, contiguous ones cost a lane's share, up to two where vectors cross cache lines, others (gathers and scatters)
/// as much as scalar ones. The last of equals wins.
VectorChoice best_vector(const polyhedral::Scop& scop, const polyhedral::Statement& statement,
                         const std::vector<int>& candidates, const Target& target);

}  // namespace tc::strategy
