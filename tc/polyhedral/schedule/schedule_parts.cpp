#include "tc/polyhedral/schedule/schedule_parts.h"

#include "tc/base/contains.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/copy_tree.h"
#include "tc/polyhedral/core/dependences.h"
#include "tc/polyhedral/schedule/schedule.h"

namespace tc::polyhedral {

isl::schedule schedule_of(const Scop& scop, const std::vector<std::string>& ids, const MappingOptions& options) {
  auto part = scop;
  std::erase_if(part.statements, [&](const auto& statement) { return !contains(ids, statement.id); });
  return compute_schedule(part, compute_dependences(part), options);
}

isl::schedule in_order(const std::vector<isl::schedule_node>& parts, const isl::union_set& domain) {
  auto node = isl::schedule::from_domain(domain).root().child(0);
  if (parts.size() == 1) return copy_tree(parts[0], node).schedule();
  isl::union_set_list filters(domain.ctx(), static_cast<int>(parts.size()));
  for (const auto& part : parts) filters = filters.add(instances_at(part));
  node = node.insert_sequence(filters);
  for (std::size_t i = 0; i < parts.size(); ++i)
    node = copy_tree(parts[i], node.child(static_cast<int>(i)).child(0)).ancestor(2);
  return node.schedule();
}

}  // namespace tc::polyhedral
