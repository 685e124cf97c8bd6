#include "tc/strategy/construct/plain_kernels.h"

#include <algorithm>

#include "tc/polyhedral/map_grid/check_kernel_nest.h"
#include "tc/polyhedral/nest/idle_loops.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/strategy/grid/choose_grid_mapping.h"
#include "tc/strategy/grid/tile_contraction.h"

namespace tc::strategy {
namespace {

/// Steps of a reduction between copies: those of a sector of float32.
constexpr std::int64_t shortest_block = 8;
/// Threads of a warp along rows of a product; the others are along its columns.
constexpr std::int64_t threads_along_rows = 4;

}  // namespace

std::vector<polyhedral::Nest> plain_kernels(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                                            const PricedCluster& priced, const polyhedral::MappingOptions& options) {
  const auto& limits = *priced.target.grid;
  std::vector<polyhedral::Nest> result;
  const auto add = [&](const polyhedral::GridClusterMapping& mapping) {
    auto nest = polyhedral::without_idle_loops(priced.nests, polyhedral::nest_of(priced.nests, mapping));
    const bool is_new = std::find(result.begin(), result.end(), nest) == result.end();
    if (is_new && polyhedral::is_realisable_kernel(scop, cluster, nest, limits)) result.push_back(std::move(nest));
  };
  auto how = options;
  how.reduction_block = shortest_block;
  if (const auto view = tileable_contraction(scop, cluster, limits, how))
    if (const auto tile =
            tile_contraction(*view, {threads_along_rows, limits.warp_size / threads_along_rows, 1, 1, false}))
      add(*tile);
  how.reduction_block = 0;
  how.block = {limits.warp_size};
  if (result.empty())
    for (const auto along : {ThreadsAlong::Members, ThreadsAlong::Rows})
      add(choose_grid_cluster(scop, cluster, limits, how, along));
  return result;
}

}  // namespace tc::strategy
