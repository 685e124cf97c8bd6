#include "tc/polyhedral/map_grid/map_to_grid.h"

#include "tc/polyhedral/core/are_copies.h"
#include "tc/polyhedral/map_grid/grid_passes.h"
#include "tc/polyhedral/map_grid/split_kernels.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"

namespace tc::polyhedral {

bool are_copies(const GridKernel& a, const GridKernel& b) {
  const auto& [scop, where, grid, block, warp_size, shared_bytes, blocks_per_multiprocessor] = a;
  const auto& [blocks, threads] = where;
  return are_copies(scop, b.scop) && blocks.get() == b.where.blocks.get() && threads.get() == b.where.threads.get() &&
         grid == b.grid && block == b.block && warp_size == b.warp_size && shared_bytes == b.shared_bytes &&
         blocks_per_multiprocessor == b.blocks_per_multiprocessor;
}

GridKernel map_kernel(const Scop& part, const NestSpace& space, const Nest& nest, std::int64_t warp_size) {
  GridCluster cluster(part, space, nest, warp_size);
  for (const auto& pass : grid_passes()) pass.run(cluster);
  return cluster.kernel();
}

GridKernel map_kernel(const Scop& part, const GridClusterMapping& mapping, std::int64_t warp_size) {
  const auto space = kernel_nest_space(part, cluster_views(part).at(0));
  return map_kernel(part, space, nest_of(space, mapping), warp_size);
}

std::vector<Scop> kernel_parts(const ClusteredScop& clustered) { return split_kernels(clustered.scop); }

std::vector<GridKernel> map_to_grid(const ClusteredScop& clustered, const GridMapping& mapping,
                                    std::int64_t warp_size) {
  auto parts = kernel_parts(clustered);
  std::vector<GridKernel> kernels;
  for (std::size_t i = 0; i < parts.size(); ++i)
    kernels.push_back(
        map_kernel(parts[i], i < mapping.clusters.size() ? mapping.clusters[i] : GridClusterMapping{}, warp_size));
  return kernels;
}

}  // namespace tc::polyhedral
