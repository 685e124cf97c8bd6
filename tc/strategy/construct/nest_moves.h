#pragma once

#include <vector>

#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_space.h"
#include "tc/strategy/price/price.h"

namespace tc::strategy {

/// The nests one move from \p nest, of a processor, in \p space. Branches and the loop on cores stay, so points keep their tiles:
///
///   cut      m/8                    m/64   m%64/8          another level, of twice to 64 times the step below
///   join     m/64  m%64/8           m/8                    without a level
///   resize   m/64  m%64/8           m/128  m%128/8         a level twice or half as large
///   swap     m%64/8  n/48           n/48   m%64/8          neighbouring loops over different indices
///   lift     m%64/8  copy B of S1   copy B of S1  m%64/8   a copy above the loop above it, or below the one below
///
/// Nests that a program allows stay so, where members may be interchanged at all.
std::vector<polyhedral::Nest> nests_beside(const polyhedral::NestSpace& space, const polyhedral::Nest& nest);

/// A nest and its price.
struct PricedNest {
  polyhedral::Nest nest;
  Price price;
};

/// The nest that a descent from \p nest by moves ends at: the cheapest move while it is at least `least_difference` cheaper.
PricedNest descend(const PricedCluster& cluster, polyhedral::Nest nest, std::int64_t buffer_bytes);

}  // namespace tc::strategy
