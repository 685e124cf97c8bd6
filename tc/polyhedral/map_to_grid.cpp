#include "tc/polyhedral/map_to_grid.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/barriers.h"
#include "tc/polyhedral/gather_coincident.h"
#include "tc/polyhedral/grid_tree.h"
#include "tc/polyhedral/split_kernels.h"
#include "tc/polyhedral/thread_map.h"

namespace tc::polyhedral {
namespace {

/// The statements of the kernel \p scop that must not run ahead in one thread: instances of other threads use what they write,
/// in the same iteration of the loops above.
std::vector<std::string> entangled(const Scop& scop, const isl::union_map& pairs) {
  std::vector<std::string> result;
  auto across = across_threads(pairs, coordinates(scop.schedule));
  for (const auto& [id, node] : thread_nodes(scop.schedule)) {
    auto own = isl::set::universe(scop.statement(id).domain.space()).to_union_set();
    auto inside = across.intersect_domain(own).intersect_range(own);
    if (inside.is_empty()) continue;
    auto prefix = call(scop.ctx(), isl_schedule_node_get_prefix_schedule_multi_union_pw_aff, node.get());
    if (prefix.size() > 0) inside = call(scop.ctx(), isl_union_map_eq_at_multi_union_pw_aff, inside.copy(), prefix.copy());
    if (!inside.is_empty()) result.push_back(id);
  }
  return result;
}

void add_parameters(GridKernel& kernel) {
  for (int i = 0; i < 3; ++i)
    if (kernel.grid[i] > 1) kernel.scop.parameters.push_back({block_name(i), 0, kernel.grid[i] - 1});
  for (int i = 0; i < 3; ++i)
    if (kernel.block[i] > 1) kernel.scop.parameters.push_back({thread_name(i), 0, kernel.block[i] - 1});
}

/// The context node: bounds of the parameters of \p scop.
isl::schedule with_context(const Scop& scop) {
  if (scop.parameters.empty()) return scop.schedule;
  auto bounds = call(scop.ctx(), isl_set_from_params, parameter_bounds(scop).release());
  return scop.schedule.root().child(0).insert_context(bounds).schedule();
}

GridKernel map_cluster(const Scop& part, const GridClusterMapping& mapping) {
  GridKernel kernel{.scop = part};
  auto choice = mapping;
  choice.block = grid_tree(part, choice, {}).block;
  auto tree = grid_tree(part, choice, {});
  kernel.scop.schedule = tree.schedule;
  auto pairs = conflicts(part, Sharing::Block);
  auto together = entangled(kernel.scop, pairs);
  if (!together.empty()) {
    tree = grid_tree(part, choice, together);
    kernel.scop.schedule = tree.schedule;
  }
  kernel.grid = tree.grid;
  kernel.block = tree.block;
  add_parameters(kernel);
  kernel.scop.schedule = with_context(kernel.scop);
  kernel.scop = insert_barriers(kernel.scop, kernel.block);
  return kernel;
}

}  // namespace

std::vector<GridKernel> map_to_grid(const Scop& scop, const GridMapping& mapping) {
  auto gathered = scop;
  gathered.schedule = gather_coincident(scop);
  auto parts = split_kernels(gathered);
  std::vector<GridKernel> kernels;
  for (std::size_t i = 0; i < parts.size(); ++i)
    kernels.push_back(map_cluster(parts[i], i < mapping.clusters.size() ? mapping.clusters[i] : GridClusterMapping{}));
  return kernels;
}

}  // namespace tc::polyhedral
