#include "tc/polyhedral/map_grid/reduce_in_block.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/core/surround.h"
#include "tc/polyhedral/map/privatise_reduction.h"

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

/// Lets the threads of a warp combine what statement \p id adds up over its last iterator.
void combine_in_warps(Statement& statement, std::int64_t warp_size) {
  statement.combined_iterator = dimensions(statement.domain) - 1;
  statement.combined_lanes = static_cast<int>(warp_size);
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

/// The reduction over \p iterator, runs of \p run of which go to one thread along x, in all threads.
Scop reduce(const Scop& scop, const std::string& id, int iterator, std::int64_t run, GridClusterState& state) {
  const auto threads = state.block()[0], warp_size = state.warp_size;
  auto root = scop.schedule.root().child(0);
  bool has_outer_band = !cluster_views(scop).at(0).members.empty();
  auto place = path_to(has_outer_band ? root.child(0) : root, id);
  auto [result, added] = privatise_for_threads(scop, place, id, iterator, run, threads);
  state.promoted.push_back(result.tensors.back().name);
  for (const auto& name : added) {
    int last = dimensions(result.statement(name).domain) - 1;
    bool whole = threads % warp_size == 0;
    if (name == added[1] && !whole) continue;
    auto loop = loop_over(NestIndex{0, last}, 0, 1);
    loop.place = NestPlace::Thread;
    state.added.push_back({.statement = name, .loops = {loop}});
  }
  if (threads % warp_size != 0) return result;
  combine_in_warps(result.statement(added[1]), warp_size);
  return threads == warp_size ? result : join_warps(result, added[1], threads / warp_size, state);
}

}  // namespace

Scop reduce_in_block(const Scop& scop, GridClusterState& state) {
  auto result = scop;
  for (const auto& branch : state.nest.branches)
    for (const auto& loop : branch.loops)
      if (loop.place == NestPlace::Thread && loop.dimension == 0 && state.block()[0] > 1 &&
          state.space.is_reduced(loop.digit.index))
        result = reduce(result, branch.statement, loop.digit.index.number, loop.digit.step, state);
  return result;
}

}  // namespace tc::polyhedral
