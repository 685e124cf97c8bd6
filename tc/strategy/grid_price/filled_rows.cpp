#include "tc/strategy/grid_price/filled_rows.h"

#include "tc/base/ceil_div.h"
#include "tc/polyhedral/nest/kernel_nest.h"

namespace tc::strategy {
std::optional<PricedCluster> with_filled_rows(const PricedCluster& cluster, const polyhedral::Nest& nest) {
  if (!cluster.nests.has_ordered_loop()) return std::nullopt;
  for (std::size_t m = 0; m < cluster.nests.members.size(); ++m) {
    const polyhedral::NestIndex index{-1, static_cast<int>(m)};
    const auto& range = cluster.nests.members[m];
    const auto tile = polyhedral::tile_of(cluster.nests, nest, index.number);
    const bool on_threads = !polyhedral::thread_loops(polyhedral::branch_with_threads(nest, index), index).empty();
    if (range.symbolic || range.min != 0 || !on_threads || range.extent() % tile == 0) continue;
    auto result = cluster;
    const auto rows = ceil_div(range.extent(), tile) * tile;
    result.extent[m] = static_cast<double>(rows);
    result.nests.members[m].max = rows - 1;
    for (std::size_t s = 0; s < result.statements.size(); ++s) {
      auto& statement = result.statements[s];
      const int iterator = statement.entry.outer[m];
      if (iterator < 0 || !cluster.tensors[static_cast<std::size_t>(statement.write.tensor)].own) continue;
      statement.extent[static_cast<std::size_t>(iterator)] = static_cast<double>(rows);
      result.nests.statements[s].extents[static_cast<std::size_t>(iterator)] = rows;
    }
    return result;
  }
  return std::nullopt;
}

}  // namespace tc::strategy
