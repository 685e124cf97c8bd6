#pragma once

#include <optional>

#include "tc/polyhedral/nest/nest.h"
#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// \p cluster with as many rows as the kernel of \p nest runs, whose last tile is filled up (fill_rows.h); nothing where it has whole
/// tiles. As if it could fill rows wherever loops run in order.
std::optional<PricedCluster> with_filled_rows(const PricedCluster& cluster, const polyhedral::Nest& nest);

}  // namespace tc::strategy
