#include "tc/polyhedral/spread/distribute_bands.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/loops.h"
#include "tc/polyhedral/spread/spread_over_threads.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

bool is_of_threads(const Scop& scop, const GridClusterState& state, const schedule_node& band,
                   const std::vector<std::string>& readers) {
  const auto members = band_members(band);
  const auto coincident = band_coincident(band);
  const auto ids = statement_ids(band);
  if (std::none_of(readers.begin(), readers.end(), [&](const auto& reader) { return contains(ids, reader); }))
    return false;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!coincident[i] || loops_to_shared_threads(scop, state, members[i], ids).empty()) return false;
  }
  return !members.empty();
}

/// The node in place of \p node, at its depth, with \p loops above each statement below.
schedule_node above_each(schedule_node node, const GridLoops& loops) {
  if (statement_ids(node).size() < 2) return insert_loops(node, loops);
  for (unsigned i = 0; i < node.n_children(); ++i) node = above_each(node.child(static_cast<int>(i)), loops).parent();
  return node;
}

schedule_node distribute(const Scop& scop, const GridClusterState& state, schedule_node node,
                         const std::vector<std::string>& readers) {
  if (statement_ids(node).size() < 2) return node;
  while (node.isa<isl::schedule_node_band>() && is_of_threads(scop, state, node, readers)) {
    GridLoops loops;
    for (const auto& member : band_members(node)) loops.push_back({member, true});
    node = above_each(erase(node), loops);
  }
  for (unsigned i = 0; i < node.n_children(); ++i)
    node = distribute(scop, state, node.child(static_cast<int>(i)), readers).parent();
  return node;
}

}  // namespace

Scop distribute_bands(const Scop& scop, const GridClusterState& state, const std::vector<std::string>& readers) {
  const auto root = scop.schedule.root().child(0);
  const bool has_members = !state.space.members.empty() && root.isa<isl::schedule_node_band>();
  auto result = scop;
  result.schedule = distribute(scop, state, has_members ? root.child(0) : root, readers).schedule();
  return result;
}

}  // namespace tc::polyhedral
