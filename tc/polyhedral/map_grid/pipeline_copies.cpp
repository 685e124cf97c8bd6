#include "tc/polyhedral/map_grid/pipeline_copies.h"

#include <map>
#include <string>
#include <utility>

#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/isolate.h"
#include "tc/polyhedral/core/loops.h"
#include "tc/polyhedral/map_grid/barriers.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

/// Copies that run ahead in one loop, and what reads them.
struct PipelinedLoop {
  std::vector<std::string> copies, readers;

  std::vector<std::string> statements() const {
    auto result = copies;
    result.insert(result.end(), readers.begin(), readers.end());
    return result;
  }
};

/// The loops in which copies run ahead. The readers of a loop stand in program order.
std::vector<PipelinedLoop> pipelined_loops(const Scop& scop, const GridClusterState& state) {
  std::map<std::vector<int>, PipelinedLoop> loops;
  for (const auto& statement : scop.statements)
    for (const auto& copy : state.ahead) {
      if (copy.reader != statement.id) continue;
      auto& loop = loops[path_of(common_node(scop.schedule, {copy.statement, copy.reader}))];
      loop.copies.push_back(copy.statement);
      if (!contains(loop.readers, copy.reader)) loop.readers.push_back(copy.reader);
    }
  std::vector<PipelinedLoop> result;
  for (auto& [path, loop] : loops) result.push_back(std::move(loop));
  return result;
}

/// The sequence of the readers of \p loop and their copies, below the band over blocks.
schedule_node pipelined_sequence(const Scop& scop, const PipelinedLoop& loop) {
  auto node = common_node(scop.schedule, loop.statements());
  auto band = band_above(node);
  if (!node.isa<isl::schedule_node_sequence>() || !band.isa<isl::schedule_node_band>() ||
      band_members(band).size() != 1)
    throw InternalError("copies that run ahead do not stand with their reader right below the loop over blocks");
  return node;
}

/// Adds the synchronisation of the copies of \p loop to \p result.
void add_copy_waits(const Scop& scop, const GridClusterState& state, const PipelinedLoop& loop,
                    Synchronisation& result) {
  auto node = pipelined_sequence(scop, loop);
  std::string asynchronous;
  for (unsigned i = 0; i < node.n_children(); ++i) {
    const auto first = statement_ids(node.child(static_cast<int>(i)).child(0)).at(0);
    if (contains(loop.copies, first) && scop.statement(first).asynchronous) asynchronous = first;
  }
  if (asynchronous.empty()) return;
  const auto& last = loop.readers.back();
  auto slots = state.blocks(last).slots;
  if (const auto* unit = scop.statement(last).unit; !unit || !unit->from_shared) {
    result.behind[asynchronous] = {copy_commit};
    result.at_end[asynchronous] = {str(copy_wait, "_", slots - 2)};
    return;
  }
  result.behind[asynchronous] = {copy_commit, unit_begin};
  result.behind[last] = {unit_commit, str(unit_wait, "_1"), str(copy_wait, "_", slots - 3), proxy_fence};
  result.behind_all[last] = {str(unit_wait, "_0")};
}

/// { [o0, ..., t0] } values of the bands down to \p band, of one member, from the first at which an instance of \p readers runs.
isl::set from_first(const schedule_node& band, const isl::union_set& readers) {
  const auto outer = call(band.ctx(), isl_schedule_node_get_prefix_schedule_multi_union_pw_aff, band.get());
  const auto all = outer.flat_range_product(band.as<isl::schedule_node_band>().partial_schedule());
  const auto runs = readers.apply(call(band.ctx(), isl_union_map_from_multi_union_pw_aff, all.copy())).as_set();
  const auto last = static_cast<unsigned>(dimensions(runs) - 1);
  const auto around = call(runs.ctx(), isl_set_eliminate, runs.copy(), isl_dim_set, last, 1u);
  auto earlier = isl::map::universe(runs.space().map_from_set());
  for (unsigned d = 0; d < last; ++d)
    earlier = call(runs.ctx(), isl_map_equate, earlier.copy(), isl_dim_in, static_cast<int>(d), isl_dim_out,
                   static_cast<int>(d));
  earlier = call(runs.ctx(), isl_map_order_le, earlier.copy(), isl_dim_in, static_cast<int>(last), isl_dim_out,
                 static_cast<int>(last));
  return runs.apply(earlier).coalesce().gist(around);
}

}  // namespace

isl::schedule_node band_above(const isl::schedule_node& node) {
  auto result = node.parent();
  while (result.isa<isl::schedule_node_mark>()) result = result.parent();
  return result;
}

Scop run_ahead(const Scop& scop, const std::vector<int>& band, const std::vector<GridAhead>& copies) {
  auto node = node_at(scop.schedule, band);
  auto function = band_members(node).at(0);
  for (const auto& copy : copies) {
    auto domain = isl::set::universe(scop.statement(copy.statement).domain.space()).to_union_set();
    auto others = call(scop.ctx(), isl_union_pw_aff_subtract_domain, function.copy(), domain.copy());
    auto own = call(scop.ctx(), isl_union_pw_aff_intersect_domain, function.copy(), domain.copy());
    function =
        call(scop.ctx(), isl_union_pw_aff_union_add, others.copy(), from_origin(own, copy.blocks, domain).release());
  }
  auto result = scop;
  auto permutable = node.as<isl::schedule_node_band>().permutable();
  result.schedule =
      insert_band(erase(node), {function}, {}).as<isl::schedule_node_band>().set_permutable(permutable).schedule();
  return result;
}

Scop isolate_first_copies(const Scop& scop, const GridClusterState& state) {
  auto result = scop;
  for (const auto& loop : pipelined_loops(scop, state)) {
    auto band = band_above(pipelined_sequence(result, loop));
    result.schedule = isolate(band, from_first(band, instances_of(scop, loop.readers))).schedule();
  }
  return result;
}

Synchronisation copy_waits(const Scop& scop, const GridClusterState& state) {
  Synchronisation result;
  for (const auto& loop : pipelined_loops(scop, state)) add_copy_waits(scop, state, loop, result);
  return result;
}

}  // namespace tc::polyhedral
