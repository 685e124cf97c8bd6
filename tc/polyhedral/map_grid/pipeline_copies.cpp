#include "tc/polyhedral/map_grid/pipeline_copies.h"

#include <algorithm>
#include <set>
#include <string>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/isolate.h"
#include "tc/polyhedral/core/loops.h"
#include "tc/polyhedral/map_grid/barriers.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

/// The statements whose copies run ahead.
std::set<std::string> pipelined_readers(const GridClusterState& state) {
  std::set<std::string> result;
  for (const auto& copy : state.ahead) result.insert(copy.reader);
  return result;
}

/// The sequence of \p reader and its copies, below the band over blocks.
schedule_node pipelined_sequence(const Scop& scop, const GridClusterState& state, const std::string& reader) {
  std::vector<std::string> statements{reader};
  for (const auto& copy : state.ahead)
    if (copy.reader == reader) statements.push_back(copy.statement);
  auto node = common_node(scop.schedule, statements);
  auto band = band_above(node);
  if (!node.isa<isl::schedule_node_sequence>() || !band.isa<isl::schedule_node_band>() ||
      band_members(band).size() != 1)
    throw InternalError("copies that run ahead do not stand with their reader right below the loop over blocks");
  return node;
}

/// Adds the synchronisation of the copies for \p reader to \p result.
void add_copy_waits(const Scop& scop, const GridClusterState& state, const std::string& reader,
                    Synchronisation& result) {
  auto node = pipelined_sequence(scop, state, reader);
  std::string last, asynchronous;
  for (unsigned i = 0; i < node.n_children(); ++i) {
    last = statement_ids(node.child(static_cast<int>(i)).child(0)).at(0);
    if (scop.statement(last).asynchronous) asynchronous = last;
  }
  if (asynchronous.empty()) return;
  auto slots = state.blocks(reader).slots;
  if (const auto* unit = scop.statement(last).unit; !unit || !unit->from_shared) {
    result.behind[asynchronous] = {copy_commit};
    result.behind[last] = {str(copy_wait, "_", slots - 2)};
    return;
  }
  result.behind[asynchronous] = {copy_commit, unit_begin};
  result.behind[last] = {unit_commit, str(unit_wait, "_1"), str(copy_wait, "_", slots - 3), proxy_fence};
  result.behind_all[last] = {str(unit_wait, "_0")};
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
  for (const auto& reader : pipelined_readers(state)) {
    auto band = band_above(pipelined_sequence(result, state, reader));
    auto first = values(band_members(band).at(0), scop.statement(reader).domain.to_union_set()).min;
    result.schedule = isolate(band, {str("t0 >= ", first)}).schedule();
  }
  return result;
}

Synchronisation copy_waits(const Scop& scop, const GridClusterState& state) {
  Synchronisation result;
  for (const auto& reader : pipelined_readers(state)) add_copy_waits(scop, state, reader, result);
  return result;
}

}  // namespace tc::polyhedral
