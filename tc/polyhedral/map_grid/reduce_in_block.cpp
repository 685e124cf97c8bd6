#include "tc/polyhedral/map_grid/reduce_in_block.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/core/surround.h"
#include "tc/polyhedral/map/privatise_reduction.h"
#include "tc/polyhedral/nest/idle_loops.h"
#include "tc/polyhedral/nest/kernel_nest.h"

namespace tc::polyhedral {
namespace {

/// The path to the node below which only statement \p id stands.
std::vector<int> path_to(const isl::schedule_node& node, const std::string& id) {
  if (statement_ids(node).size() == 1) return path_of(node);
  for (unsigned i = 0; i < node.n_children(); ++i) {
    auto child = node.child(static_cast<int>(i));
    auto ids = statement_ids(child.isa<isl::schedule_node_filter>() ? child.child(0) : child);
    if (std::find(ids.begin(), ids.end(), id) != ids.end())
      return path_to(child.isa<isl::schedule_node_filter>() ? child.child(0) : child, id);
  }
  return path_of(node);
}

/// Names of the dimensions of \p statement, the last one aside.
std::vector<std::string> leading(const Statement& statement) {
  return dimension_names(dimensions(statement.domain) - 1);
}

std::string with(std::vector<std::string> names, const std::string& last) {
  names.push_back(last);
  return join(names);
}

/// Lets \p lanes neighbouring threads of a warp combine what statement \p id adds up over its last iterator.
void combine_in_warps(Statement& statement, std::int64_t lanes) {
  statement.combined_iterator = dimensions(statement.domain) - 1;
  statement.combined_lanes = static_cast<int>(lanes);
}

/// Does a block run \p statement, number \p number, for all results of a step of its serial loops that it sums over \p iterator, or for none
/// of them? A step has a tile of the outer members, and all values along threads of the block.
bool has_all_results(const Statement& statement, const GridClusterState& state, const NestBranch& branch, int number,
                     int iterator) {
  const auto ranges = box(statement.domain);
  const auto& outer = state.space.statements.at(static_cast<std::size_t>(number)).entry.outer;
  std::vector<std::int64_t> tiles(ranges.size(), 1);
  for (std::size_t m = 0; m < outer.size(); ++m)
    if (outer[m] >= 0)
      tiles[static_cast<std::size_t>(outer[m])] = tile_of(state.space, state.nest, static_cast<int>(m));
  for (const auto& loop : branch.loops)
    if (loop.place == NestPlace::Thread && loop.digit.index.statement >= 0)
      tiles[static_cast<std::size_t>(loop.digit.index.number)] = state.space.extent(loop.digit.index);
  const auto d = static_cast<unsigned>(iterator);
  const auto& range = ranges[d];
  tiles[d] = range.extent();
  auto results = call(statement.domain.ctx(), isl_set_eliminate, statement.domain.copy(), isl_dim_set, d, 1u);
  results = call(results.ctx(), isl_set_lower_bound_si, results.copy(), isl_dim_set, d, static_cast<int>(range.min));
  results = call(results.ctx(), isl_set_upper_bound_si, results.copy(), isl_dim_set, d, static_cast<int>(range.max));
  return is_of_whole_tiles(results, tiles);
}

/// Do all threads of a block run \p branch alike, but for their numbers? Threads that share a warp with others combine values only if
/// no condition parts them.
bool runs_in_all_threads(const GridClusterState& state, const NestBranch& branch) {
  std::array<std::int64_t, 3> threads = {1, 1, 1};
  for (const auto& loop : branch.loops) {
    const auto& index = loop.digit.index;
    if (loop.place != NestPlace::Thread) continue;
    threads[static_cast<std::size_t>(loop.dimension)] *= values_of(loop.digit, state.space.extent(index));
    if (loop.dimension == 0) continue;
    const auto tile = index.statement < 0 ? tile_of(state.space, state.nest, index.number) : state.space.extent(index);
    if (index.statement >= 0 || state.space.extent(index) % tile != 0) return false;
  }
  return threads[1] == state.block()[1] && threads[2] == state.block()[2];
}

/// How many neighbouring threads combine a sum of all threads along x by exchanges: a warp, or the part of one that the threads are;
/// 0: they combine it in memory.
std::int64_t exchanging_lanes(const Scop& scop, const GridClusterState& state, const NestBranch& branch, int iterator) {
  const auto threads = state.block()[0], warp = state.warp_size;
  if (threads % warp == 0) return warp;
  const auto all = threads * state.block()[1] * state.block()[2];
  const bool is_part = warp % threads == 0 && all % warp == 0;
  const bool is_alike =
      runs_in_all_threads(state, branch) && has_all_results(scop.statement(branch.statement), state, branch,
                                                            state.space.position(branch.statement), iterator);
  return is_part && is_alike ? threads : 0;
}

/// Takes the sums of warps to a tensor of their own, which thread 0 adds up.
Scop join_warps(const Scop& scop, const std::string& id, std::int64_t warps, GridClusterState& state) {
  auto ctx = scop.ctx();
  auto result = scop;
  auto& combine = result.statement(id);
  auto names = leading(combine);
  Tensor tensor = scop.tensor(range_name(combine.reads.at(0).relation));
  tensor.name = unused_name(scop, "warps_" + id);
  tensor.extent.back() = warps;
  tensor.strides = row_major(tensor.extent);
  Addition joined;
  joined.host = id;
  auto& statement = joined.statement;
  statement = combine;
  statement.id = unused_name(scop, id + "_join");
  statement.combined_iterator = -1;
  statement.combined_lanes = 0;
  auto tuple = str(statement.id, "[", with(names, "v"), "]");
  auto spread = str("{ ", id, "[", with(names, "w"), "] -> ", tuple, " : 0 <= v < ", warps, " }");
  statement.domain = combine.domain.apply(isl::map(ctx, spread));
  joined.like = isl::multi_aff(ctx, str("{ ", tuple, " -> ", id, "[", with(names, "0"), "] }"));
  joined.loops = {isl::multi_union_pw_aff(ctx, str("[{ ", tuple, " -> [(v)] }]"))};
  auto target = combine.write.function.pullback(joined.like.to_pw_multi_aff());
  statement.write = {target.as_map().intersect_domain(statement.domain), true, target};
  auto read = str("{ ", tuple, " -> ", tensor.name, "[", with(names, "v"), "] }");
  statement.reads = {exact_access(isl::map(ctx, read).intersect_domain(statement.domain))};
  auto write = str("{ ", id, "[", with(names, "w"), "] -> ", tensor.name, "[",
                   with(names, str("floor(w/", state.warp_size, ")")), "] }");
  combine.write = exact_access(isl::map(ctx, write).intersect_domain(combine.domain));
  combine.accumulates = false;
  result.tensors.push_back(tensor);
  state.promoted.push_back(tensor.name);
  auto path = path_to(result.schedule.root().child(0), id);
  return surround(result, path, {}, {joined});
}

/// The reduction of \p branch over \p iterator, runs of \p run of which go to one thread along x, in all threads.
Scop reduce(const Scop& scop, const NestBranch& branch, int iterator, std::int64_t run, GridClusterState& state) {
  const auto& id = branch.statement;
  const auto threads = state.block()[0], lanes = exchanging_lanes(scop, state, branch, iterator);
  auto root = scop.schedule.root().child(0);
  bool has_outer_band = !cluster_views(scop).at(0).members.empty();
  auto place = path_to(has_outer_band ? root.child(0) : root, id);
  auto [result, added] = privatise_for_threads(scop, place, id, iterator, run, threads);
  state.promoted.push_back(result.tensors.back().name);
  for (const auto& name : added) {
    int last = dimensions(result.statement(name).domain) - 1;
    if (name == added[1] && lanes == 0) continue;
    auto loop = loop_over(NestIndex{0, last}, 0, 1);
    loop.place = NestPlace::Thread;
    state.added.push_back({.statement = name, .loops = {loop}});
  }
  if (lanes == 0) return result;
  combine_in_warps(result.statement(added[1]), lanes);
  return threads <= lanes ? result : join_warps(result, added[1], threads / lanes, state);
}

}  // namespace

Scop reduce_in_block(const Scop& scop, GridClusterState& state) {
  auto result = scop;
  for (const auto& branch : state.nest.branches)
    for (const auto& loop : branch.loops)
      if (loop.place == NestPlace::Thread && loop.dimension == 0 && state.block()[0] > 1 &&
          state.space.is_reduced(loop.digit.index))
        result = reduce(result, branch, loop.digit.index.number, loop.digit.step, state);
  return result;
}

}  // namespace tc::polyhedral
