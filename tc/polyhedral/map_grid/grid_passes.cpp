#include "tc/polyhedral/map_grid/grid_passes.h"

#include "tc/polyhedral/map/stage_tensor.h"
#include "tc/polyhedral/map_grid/barriers.h"
#include "tc/polyhedral/map_grid/copy_reads.h"
#include "tc/polyhedral/map_grid/fill_rows.h"
#include "tc/polyhedral/map_grid/hold_in_registers.h"
#include "tc/polyhedral/map_grid/pipeline_copies.h"
#include "tc/polyhedral/map_grid/reduce_in_block.h"
#include "tc/polyhedral/map_grid/repeat_in_lanes.h"
#include "tc/polyhedral/nest/idle_loops.h"
#include "tc/polyhedral/nest/kernel_nest.h"
#include "tc/polyhedral/spread/thread_map.h"

namespace tc::polyhedral {
namespace {

void fill(GridCluster& cluster) {
  const auto rows = rows_to_fill(cluster.scop, cluster.state.space, cluster.state.nest);
  if (!rows) return;
  const auto space = filled_space(cluster.scop, cluster.state.space, cluster.state.nest, *rows);
  cluster.scop = fill_rows(cluster.scop, cluster.state.space, cluster.state.nest, *rows);
  cluster.state.space = space;
}

void reduce(GridCluster& cluster) { cluster.scop = reduce_in_block(cluster.scop, cluster.state); }
void repeat(GridCluster& cluster) { cluster.scop = repeat_in_lanes(cluster.scop, cluster.state); }

/// Keeps the elements of the staged tensors in temporaries while a block works on them.
void stage(GridCluster& cluster) {
  for (const auto& step : cluster.state.nest.trunk) {
    const auto* keep = std::get_if<NestKeep>(&step.what);
    if (!keep || keep->is_temporary) continue;
    ClusterState names{.temporaries = {keep->tensor}};
    cluster.scop = stage_tensor(cluster.scop, {0}, keep->tensor, names);
    if (names.temporaries.front() != keep->tensor) cluster.state.promoted.push_back(names.temporaries.front());
  }
}

void copy(GridCluster& cluster) { cluster.scop = copy_reads(cluster.scop, cluster.state); }

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

/// The tree of the scop, whose schedule it becomes. What threads must run together is found with a first try.
void spread(GridCluster& cluster) {
  auto tree = grid_tree(cluster.scop, cluster.state, {});
  auto attempt = with_tree(cluster.scop, tree);
  auto together = entangled(attempt, tree.where, conflicts(cluster.scop, Sharing::Block));
  if (!together.empty()) {
    tree = grid_tree(cluster.scop, cluster.state, together);
    attempt = with_tree(cluster.scop, tree);
  }
  cluster.scop = attempt;
  cluster.tree = tree;
}

void hold(GridCluster& cluster) {
  for (const auto& held : cluster.state.held)
    cluster.scop = hold_in_registers(cluster.scop, held.tensor, *cluster.tree, cluster.tree->inside);
}

/// Only buffers that threads share can be filled by asynchronous copies.
void copy_at_once_elsewhere(Scop& scop) {
  for (auto& statement : scop.statements)
    if (statement.asynchronous && !scop.tensor(range_name(statement.write.function)).shared)
      statement.asynchronous = false;
}

std::optional<WarpDigits> warp_digits(const GridClusterState& state, int member) {
  const NestIndex index{-1, member};
  const auto loops = thread_loops(branch_with_threads(state.nest, index), index);
  if (loops.size() < 2) return std::nullopt;
  const auto digit = [&](const NestLoop& loop) {
    return WarpDigits::Digit{loop.dimension, loop.digit.step, values_of(loop.digit, state.space.extent(index))};
  };
  return WarpDigits{digit(loops.back()), digit(loops.front())};
}

void promote(GridCluster& cluster) {
  const auto& tree = *cluster.tree;
  auto& scop = cluster.scop;
  BlockThreads threads{tree.where, tree.block};
  for (std::size_t m = 0; m < cluster.state.space.members.size(); ++m)
    if (const auto digits = warp_digits(cluster.state, static_cast<int>(m))) threads.digits.push_back(*digits);
  for (const auto& buffer : cluster.state.buffers) scop = promote_in_block(scop, buffer, threads, cluster.memory);
  scop = promote_in_block(scop, tree.inside, cluster.state.promoted, threads, cluster.memory);
  copy_at_once_elsewhere(scop);
}

void make_kernel(GridCluster& cluster) {
  cluster.scop = isolate_first_copies(as_kernel(cluster.scop, *cluster.tree), cluster.state);
}

void synchronise(GridCluster& cluster) {
  const auto& tree = *cluster.tree;
  cluster.scop = insert_barriers(cluster.scop, tree.where, tree.block, cluster.state.warp_size,
                                 copy_waits(cluster.scop, cluster.state));
}

}  // namespace

GridKernel GridCluster::kernel() const {
  return {scop,
          tree->where,
          tree->grid,
          tree->block,
          state.warp_size,
          state.nest.launch->shared_bytes - memory.shared_bytes,
          state.nest.launch->blocks_per_multiprocessor};
}

const std::vector<GridPass>& grid_passes() {
  static const auto& passes = *new std::vector<GridPass>{
      {"fill_rows", fill, GridLaws::Statements},
      {"reduce_in_block", reduce, GridLaws::Statements},
      {"repeat_in_lanes", repeat, GridLaws::Statements},
      {"stage_tensor", stage, GridLaws::Statements},
      {"copy_reads", copy, GridLaws::Statements},
      {"grid_tree", spread, GridLaws::Threads},
      {"hold_in_registers", hold, GridLaws::Threads},
      {"promote_in_block", promote, GridLaws::Threads},
      {"as_kernel", make_kernel, GridLaws::Unsynchronised},
      {"insert_barriers", synchronise, GridLaws::Kernel},
  };
  return passes;
}

}  // namespace tc::polyhedral
