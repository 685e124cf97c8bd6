#include "tc/polyhedral/split_kernels.h"

#include <algorithm>
#include <map>

#include "tc/polyhedral/cluster_view.h"
#include "tc/polyhedral/instances.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

/// Copies the tree below \p from, whose instances are those of \p to, to the leaf \p to.
schedule_node copy_tree(const schedule_node& from, const schedule_node& to) {
  if (from.isa<isl::schedule_node_leaf>()) return to;
  if (from.isa<isl::schedule_node_band>()) {
    auto copy = insert_band(to, band_members(from), band_coincident(from)).as<isl::schedule_node_band>();
    copy = copy.set_permutable(from.as<isl::schedule_node_band>().permutable());
    return copy_tree(from.child(0), copy.child(0)).parent();
  }
  if (from.isa<isl::schedule_node_mark>()) return copy_tree(from.child(0), to.insert_mark(mark_name(from)).child(0)).parent();
  isl::union_set_list filters(from.ctx(), static_cast<int>(from.n_children()));
  for (unsigned i = 0; i < from.n_children(); ++i)
    filters = filters.add(from.child(static_cast<int>(i)).as<isl::schedule_node_filter>().filter());
  auto node = to.insert_sequence(filters);
  for (unsigned i = 0; i < from.n_children(); ++i) {
    int position = static_cast<int>(i);
    node = copy_tree(from.child(position).child(0), node.child(position).child(0)).ancestor(2);
  }
  return node;
}

/// The instances of \p statement in \p domain.
Statement restrict(const Statement& statement, const isl::set& domain) {
  if (statement.domain.is_subset(domain)) return statement;
  auto result = statement;
  result.domain = statement.domain.intersect(domain);
  for (auto* access : accesses(result)) access->relation = access->relation.intersect_domain(result.domain);
  return result;
}

/// The first and the last cluster that touch each tensor.
std::map<std::string, std::pair<int, int>> uses(const Scop& scop, const std::vector<ClusterView>& clusters) {
  std::map<std::string, std::pair<int, int>> result;
  for (int i = 0; i < static_cast<int>(clusters.size()); ++i)
    for (const auto& entry : clusters[i].statements)
      for (const auto* access : accesses(scop.statement(entry.id))) {
        auto use = result.emplace(range_name(access->relation), std::pair{i, i}).first;
        use->second.second = i;
      }
  return result;
}

}  // namespace

std::vector<Scop> split_kernels(const Scop& scop) {
  auto clusters = cluster_views(scop);
  auto used = uses(scop, clusters);
  std::vector<Scop> result;
  for (int i = 0; i < static_cast<int>(clusters.size()); ++i) {
    Scop part{.context = scop.context, .statements = {}, .tensors = scop.tensors, .schedule = {}};
    auto node = node_at(scop.schedule, clusters[i].path);
    auto ids = statement_ids(node);
    for (const auto& statement : scop.statements)
      if (std::find(ids.begin(), ids.end(), statement.id) != ids.end())
        part.statements.push_back(restrict(statement, instances_at(node).extract_set(statement.domain.space())));
    for (auto& tensor : part.tensors) {
      auto use = used.find(tensor.name);
      if (use == used.end()) continue;
      tensor.live_in = tensor.live_in || use->second.first < i;
      tensor.live_out = tensor.live_out || use->second.second > i;
    }
    auto leaf = isl::schedule::from_domain(part.domain()).root().child(0);
    part.schedule = copy_tree(node, leaf).schedule();
    result.push_back(std::move(part));
  }
  return result;
}

}  // namespace tc::polyhedral
