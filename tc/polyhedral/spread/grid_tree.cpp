#include "tc/polyhedral/spread/grid_tree.h"

#include <algorithm>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/isolate.h"
#include "tc/polyhedral/core/loops.h"
#include "tc/polyhedral/core/marks.h"
#include "tc/polyhedral/spread/spread_over_threads.h"
#include "tc/polyhedral/spread/tile_members.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

/// Coordinates as functions of all statements of \p scop: 0 where there is none.
isl::multi_union_pw_aff coordinates(const Scop& scop, const std::array<Nullable<isl::union_pw_aff>, 3>& functions) {
  auto zero = zero_on(scop.domain());
  std::array<isl::union_pw_aff, 3> all{zero, zero, zero};
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!functions[i].is_null()) all[i] = functions[i];
  return three_coordinates(all);
}

/// The coordinates of the threads of all statements, which \p statements tell of each.
std::array<Nullable<isl::union_pw_aff>, 3> threads_of(const Scop& scop,
                                                      const std::vector<StatementThreads>& statements) {
  std::array<Nullable<isl::union_pw_aff>, 3> result;
  for (const auto& spread : statements) {
    auto here = isl::set::universe(scop.statement(spread.id).domain.space()).to_union_set();
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (spread.threads[i].is_null()) continue;
      auto all = result[i].is_null() ? zero_on(scop.domain()) : isl::union_pw_aff(result[i]);
      auto others = call(all.ctx(), isl_union_pw_aff_subtract_domain, all.copy(), here.copy());
      auto own = call(all.ctx(), isl_union_pw_aff_intersect_domain, spread.threads[i].copy(), here.copy());
      result[i] = call(all.ctx(), isl_union_pw_aff_union_add, others.copy(), own.copy());
    }
  }
  return result;
}

void collect_thread_nodes(const schedule_node& node, std::vector<std::pair<std::string, schedule_node>>& result) {
  if (node.isa<isl::schedule_node_mark>() && mark_name(node) == marks::thread)
    return void(result.emplace_back(statement_ids(node).at(0), node));
  for (unsigned i = 0; i < node.n_children(); ++i) collect_thread_nodes(node.child(static_cast<int>(i)), result);
}

}  // namespace

Scop as_kernel(const Scop& scop, const GridTree& tree) {
  auto result = scop;
  for (int i = 0; i < 3; ++i)
    if (tree.grid[i] > 1) result.parameters.push_back({block_name(i), 0, tree.grid[i] - 1});
  for (int i = 0; i < 3; ++i)
    if (tree.block[i] > 1) result.parameters.push_back({thread_name(i), 0, tree.block[i] - 1});
  auto node = scop.schedule.root().child(0);
  if (tree.grid != std::array<std::int64_t, 3>{1, 1, 1}) node = node.insert_filter(tree.blocks);
  node = node.insert_mark(marks::kernel);
  auto bounds = call(scop.ctx(), isl_set_from_params, parameter_bounds(result).release());
  if (!result.parameters.empty()) node = node.insert_context(bounds);
  result.schedule = node.schedule();
  return result;
}

GridTree grid_tree(const Scop& scop, const GridClusterState& state, const std::vector<std::string>& together) {
  auto node = scop.schedule.root().child(0);
  auto view = cluster_views(scop).at(0);
  auto cut = tile_members(node, view, state.nest);
  if (!view.members.empty() && node.isa<isl::schedule_node_band>()) {
    node = insert_loops(erase(node), cut.tiles);
    if (!cut.tiles.empty()) node = isolate(node, cut.full).child(0);
  }
  auto inside = path_of(node);
  auto threads = spread_over_threads(node, cut.points, scop, state, together);
  GridTree result{threads.node.schedule(),
                  cut.filter,
                  inside,
                  {coordinates(scop, cut.blocks), coordinates(scop, threads_of(scop, threads.statements))},
                  cut.grid,
                  state.block(),
                  threads.statements};
  return result;
}

Scop with_tree(const Scop& scop, const GridTree& tree) {
  auto result = scop;
  result.schedule = tree.schedule;
  for (const auto& spread : tree.statements) {
    auto& statement = result.statement(spread.id);
    if (spread.lanes > 0) statement.vector_lanes = spread.lanes;
    if (spread.unit == nullptr) continue;
    statement.unit = spread.unit;
    const auto& [rows, columns, steps] = spread.unit_iterators;
    statement.unit_iterators = {rows, columns, steps};
  }
  return result;
}

std::vector<std::pair<std::string, isl::schedule_node>> thread_nodes(const isl::schedule& schedule) {
  std::vector<std::pair<std::string, schedule_node>> result;
  collect_thread_nodes(schedule.root(), result);
  return result;
}

}  // namespace tc::polyhedral
