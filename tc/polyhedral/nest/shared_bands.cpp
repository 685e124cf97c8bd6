#include "tc/polyhedral/nest/shared_bands.h"

#include <algorithm>

namespace tc::polyhedral {
namespace {

SharedBand shared_band(const Scop& scop, const isl::schedule_node& node, const std::vector<std::string>& statements) {
  SharedBand result{statements, {}, static_cast<bool>(node.as<isl::schedule_node_band>().permutable())};
  const auto coincident = band_coincident(node);
  const auto members = band_members(node);
  for (std::size_t i = 0; i < members.size(); ++i) {
    SharedBand::Member member{coincident[i], values(members[i], instances_at(node)).extent(), {}};
    for (const auto& id : statements) member.iterators.push_back(only_iterator(members[i], scop.statement(id).domain));
    result.members.push_back(member);
  }
  return result;
}

void collect(const Scop& scop, const isl::schedule_node& node, std::vector<SharedBand>& result) {
  const auto ids = statement_ids(node);
  if (ids.size() < 2) return;
  if (node.isa<isl::schedule_node_band>()) result.push_back(shared_band(scop, node, ids));
  for (unsigned i = 0; i < node.n_children(); ++i) collect(scop, node.child(static_cast<int>(i)), result);
}

}  // namespace

int SharedBand::Member::iterator_of(const SharedBand& band, const std::string& id) const {
  const auto found = std::find(band.statements.begin(), band.statements.end(), id);
  return found == band.statements.end() ? -1 : iterators.at(static_cast<std::size_t>(found - band.statements.begin()));
}

std::vector<SharedBand> shared_bands(const Scop& scop, const ClusterView& cluster) {
  std::vector<SharedBand> result;
  const bool any = std::any_of(cluster.statements.begin(), cluster.statements.end(), [](const ClusterStatement& entry) {
    return std::any_of(entry.inner.begin(), entry.inner.end(), [](const InnerLoop& loop) { return loop.shared; });
  });
  if (!any) return result;
  auto node = node_at(scop.schedule, cluster.path);
  collect(scop, cluster.members.empty() ? node : node.child(0), result);
  return result;
}

}  // namespace tc::polyhedral
