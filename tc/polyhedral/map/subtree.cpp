#include "tc/polyhedral/map/subtree.h"

#include "tc/base/contains.h"
#include "tc/polyhedral/core/cluster_view.h"

namespace tc::polyhedral {

Subtree::Subtree(const Scop& scop, const std::vector<int>& path)
    : node(node_at(scop.schedule, path)),
      statements(statement_ids(node)),
      prefix(call(scop.ctx(), isl_schedule_node_get_prefix_schedule_union_pw_multi_aff, node.get())),
      runs(call(scop.ctx(), isl_schedule_node_get_prefix_schedule_relation, node.get())
               .intersect_domain(instances_at(node))
               .reverse()) {}

isl::schedule_node points_of(const Subtree& subtree, const std::string& id) {
  auto node = subtree.node;
  while (!node.isa<isl::schedule_node_leaf>()) {
    unsigned next = 0;
    while (next + 1 < node.n_children() && !contains(statement_ids(node.child(next).child(0)), id)) ++next;
    node = node.child(next);
  }
  return node.parent().isa<isl::schedule_node_band>() ? node.parent() : node;
}

}  // namespace tc::polyhedral
