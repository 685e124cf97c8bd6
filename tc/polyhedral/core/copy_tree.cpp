#include "tc/polyhedral/core/copy_tree.h"

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/isl.h"

namespace tc::polyhedral {

using isl::schedule_node;

schedule_node copy_tree(const schedule_node& from, const schedule_node& to) {
  return copy_tree(from, to, [](const isl::union_set& filter) { return filter; });
}

schedule_node copy_tree(const schedule_node& from, const schedule_node& to,
                        const std::function<isl::union_set(const isl::union_set&)>& filter) {
  if (from.isa<isl::schedule_node_leaf>()) return to;
  if (from.isa<isl::schedule_node_band>()) {
    auto copy = insert_band(to, band_members(from), band_coincident(from)).as<isl::schedule_node_band>();
    copy = copy.set_permutable(from.as<isl::schedule_node_band>().permutable()).as<isl::schedule_node_band>();
    copy = copy.set_ast_build_options(from.as<isl::schedule_node_band>().ast_build_options());
    return copy_tree(from.child(0), copy.child(0), filter).parent();
  }
  if (from.isa<isl::schedule_node_mark>())
    return copy_tree(from.child(0), to.insert_mark(mark_name(from)).child(0), filter).parent();
  isl::union_set_list filters(from.ctx(), static_cast<int>(from.n_children()));
  for (unsigned i = 0; i < from.n_children(); ++i)
    filters = filters.add(filter(from.child(static_cast<int>(i)).as<isl::schedule_node_filter>().filter()));
  auto node = to.insert_sequence(filters);
  for (unsigned i = 0; i < from.n_children(); ++i) {
    int position = static_cast<int>(i);
    node = copy_tree(from.child(position).child(0), node.child(position).child(0), filter).ancestor(2);
  }
  return node;
}

}  // namespace tc::polyhedral
