#include "tc/polyhedral/map_grid/split_kernels.h"

#include <algorithm>
#include <map>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/copy_tree.h"
#include "tc/polyhedral/core/instances.h"

namespace tc::polyhedral {
namespace {

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
    Scop part{.context = scop.context,
              .statements = {},
              .tensors = scop.tensors,
              .schedule = {},
              .parameters = scop.parameters,
              .sizes = scop.sizes};
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
