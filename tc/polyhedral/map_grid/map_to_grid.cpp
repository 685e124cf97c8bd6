#include "tc/polyhedral/map_grid/map_to_grid.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/map/stage_tensor.h"
#include "tc/polyhedral/map_grid/barriers.h"
#include "tc/polyhedral/map_grid/copy_reads.h"
#include "tc/polyhedral/map_grid/grid_tree.h"
#include "tc/polyhedral/map_grid/hold_in_registers.h"
#include "tc/polyhedral/map_grid/pipeline_copies.h"
#include "tc/polyhedral/map_grid/promote_in_block.h"
#include "tc/polyhedral/map_grid/reduce_in_block.h"
#include "tc/polyhedral/map_grid/split_kernels.h"
#include "tc/polyhedral/map_grid/thread_map.h"
#include "tc/polyhedral/schedule/gather_coincident.h"

namespace tc::polyhedral {
namespace {

/// The statements of the kernel \p scop that must not run ahead in one thread: instances of other threads use what they
/// write, in the same iteration of the loops above.
std::vector<std::string> entangled(const Scop& scop, const Coordinates& where, const isl::union_map& pairs) {
  std::vector<std::string> result;
  for (const auto& [id, node] : thread_nodes(scop.schedule)) {
    auto own = isl::set::universe(scop.statement(id).domain.space()).to_union_set();
    auto inside = pairs.intersect_domain(own).intersect_range(own);
    if (inside.is_empty()) continue;
    auto prefix = call(scop.ctx(), isl_schedule_node_get_prefix_schedule_multi_union_pw_aff, node.get());
    if (prefix.size() > 0)
      inside = call(scop.ctx(), isl_union_map_eq_at_multi_union_pw_aff, inside.copy(), prefix.copy());
    if (!across_threads(inside.coalesce(), where).is_empty()) result.push_back(id);
  }
  return result;
}

/// The tree of \p scop, whose schedule it becomes. What threads must run together is found with a first try.
GridTree spread(Scop& scop, GridClusterMapping& mapping) {
  auto attempt = scop;
  mapping.block = grid_tree(attempt, mapping, {}).block;
  auto tree = grid_tree(attempt, mapping, {});
  attempt.schedule = tree.schedule;
  auto together = entangled(attempt, tree.where, conflicts(scop, Sharing::Block));
  if (!together.empty()) {
    attempt = scop;
    tree = grid_tree(attempt, mapping, together);
    attempt.schedule = tree.schedule;
  }
  scop = attempt;
  return tree;
}

/// Keeps the elements of the tensors mapping.staged in temporaries while a block works on them.
Scop stage(const Scop& scop, GridClusterMapping& mapping) {
  auto result = scop;
  for (const auto& tensor : mapping.staged) {
    ClusterMapping names{.staged = {tensor}};
    result = stage_tensor(result, {0}, tensor, names);
    if (names.staged.front() != tensor) mapping.promoted.push_back(names.staged.front());
  }
  return result;
}

/// Only buffers that threads share can be filled by asynchronous copies.
void copy_at_once_elsewhere(Scop& scop) {
  for (auto& statement : scop.statements)
    if (statement.asynchronous && !scop.tensor(range_name(statement.write.function)).shared)
      statement.asynchronous = false;
}

}  // namespace

GridKernel map_kernel(const Scop& part, const GridClusterMapping& choice) {
  auto mapping = choice;
  auto scop = stage(reduce_in_block(part, mapping), mapping);
  scop = copy_reads(scop, mapping);
  auto tree = spread(scop, mapping);
  BlockMemory memory{mapping.shared_bytes, mapping.thread_elements};
  for (const auto& held : mapping.held) scop = hold_in_registers(scop, held.tensor, tree, tree.inside);
  for (const auto& buffer : mapping.buffers) scop = promote_in_block(scop, buffer, tree.where, tree.block, memory);
  scop = promote_in_block(scop, tree.inside, mapping.promoted, tree.where, tree.block, memory);
  copy_at_once_elsewhere(scop);
  scop = isolate_first_copies(as_kernel(scop, tree), mapping);
  scop = insert_barriers(scop, tree.where, tree.block, copy_waits(scop, mapping));
  return {scop,
          tree.where,
          tree.grid,
          tree.block,
          mapping.shared_bytes - memory.shared_bytes,
          mapping.blocks_per_processor};
}

std::vector<Scop> kernel_parts(const Scop& scop) {
  auto gathered = scop;
  gathered.schedule = gather_coincident(scop);
  return split_kernels(gathered);
}

std::vector<GridKernel> map_to_grid(const Scop& scop, const GridMapping& mapping) {
  auto parts = kernel_parts(scop);
  std::vector<GridKernel> kernels;
  for (std::size_t i = 0; i < parts.size(); ++i)
    kernels.push_back(map_kernel(parts[i], i < mapping.clusters.size() ? mapping.clusters[i] : GridClusterMapping{}));
  return kernels;
}

}  // namespace tc::polyhedral
