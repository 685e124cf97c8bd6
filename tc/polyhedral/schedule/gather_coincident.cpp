#include "tc/polyhedral/schedule/gather_coincident.h"

#include "tc/polyhedral/core/cluster_view.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

/// Members of \p band in two bands: those with \p first, then the others.
schedule_node split(const schedule_node& band, const std::vector<bool>& first) {
  auto coincident = band_coincident(band);
  auto members = band_members(band);
  std::vector<isl::union_pw_aff> outer, inner;
  std::vector<bool> outer_coincident, inner_coincident;
  for (std::size_t i = 0; i < members.size(); ++i) {
    (first[i] ? outer : inner).push_back(members[i]);
    (first[i] ? outer_coincident : inner_coincident).push_back(coincident[i]);
  }
  if (outer.empty() || inner.empty()) return band;
  bool permutable = band.as<isl::schedule_node_band>().permutable();
  auto node =
      insert_band(erase(band), inner, inner_coincident).as<isl::schedule_node_band>().set_permutable(permutable);
  return insert_band(node, outer, outer_coincident).as<isl::schedule_node_band>().set_permutable(permutable);
}

}  // namespace

isl::schedule gather_coincident(const Scop& scop) {
  auto schedule = scop.schedule;
  for (const auto& cluster : cluster_views(scop)) {
    auto node = node_at(schedule, cluster.path);
    if (!node.isa<isl::schedule_node_band>()) continue;
    auto first = band_coincident(node);
    if (!node.as<isl::schedule_node_band>().permutable())
      for (std::size_t i = 1; i < first.size(); ++i) first[i] = first[i] && first[i - 1];
    schedule = split(node, first).schedule();
  }
  return schedule;
}

ClusteredScop clustered(const Scop& scop) {
  ClusteredScop result{scop, {}};
  result.scop.schedule = gather_coincident(scop);
  result.clusters = cluster_views(result.scop);
  return result;
}

}  // namespace tc::polyhedral
