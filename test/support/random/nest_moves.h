#pragma once

#include <random>

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_space.h"

namespace tc::test {

/// \p nest, of a kernel, with some random moves: digits are cut, loops change places with their neighbours, are unrolled or no
/// longer. Members of the outer band may stand in any order, and no move changes the order of other loops; the laws of nests
/// may refuse it nevertheless.
polyhedral::Nest moved_nest(const polyhedral::NestSpace& space, const polyhedral::Nest& nest, std::mt19937& random);

/// Do the laws of nests, the program and a grid of \p limits allow \p nest? It is read back from its text.
bool is_allowed(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster, const polyhedral::Nest& nest,
                const GridLimits& limits);

}  // namespace tc::test
