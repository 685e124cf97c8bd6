#include "tc/strategy/grid_price/filled_rows.h"

#include "tc/polyhedral/map_grid/fill_rows.h"

namespace tc::strategy {

std::optional<PricedCluster> with_filled_rows(const PricedCluster& cluster, const polyhedral::Nest& nest) {
  const auto rows = polyhedral::partial_rows(cluster.nests, nest);
  if (!rows) return std::nullopt;
  auto result = cluster;
  const auto member = static_cast<std::size_t>(rows->member);
  result.extent[member] = static_cast<double>(rows->extent());
  result.nests.members[member].max = rows->extent() - 1;
  for (std::size_t s = 0; s < result.statements.size(); ++s) {
    auto& statement = result.statements[s];
    const int iterator = statement.entry.outer[member];
    if (iterator < 0 || !cluster.tensors[static_cast<std::size_t>(statement.write.tensor)].own) continue;
    statement.extent[static_cast<std::size_t>(iterator)] = result.extent[member];
    result.nests.statements[s].extents[static_cast<std::size_t>(iterator)] = rows->extent();
  }
  return result;
}

}  // namespace tc::strategy
