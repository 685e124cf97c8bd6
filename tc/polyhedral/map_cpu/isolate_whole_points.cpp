#include "tc/polyhedral/map_cpu/isolate_whole_points.h"

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/constraints.h"
#include "tc/polyhedral/core/isolate.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

bool is_band(const schedule_node& node) { return node.isa<isl::schedule_node_band>(); }

/// { [members of all bands down to \p band] } in which no point of \p points, the band below, is missing of the statement of \p domain.
isl::set whole(const schedule_node& band, const schedule_node& points, const isl::set& domain) {
  const auto prefix = call(band.ctx(), isl_schedule_node_get_prefix_schedule_union_map, points.get());
  const auto runs = prefix.intersect_domain(domain.to_union_set()).as_map();
  const auto members = points.as<isl::schedule_node_band>().partial_schedule();
  auto places = call(band.ctx(), isl_union_map_from_multi_union_pw_aff, members.copy());
  const auto reached = runs.reverse().apply_range(places.intersect_domain(domain.to_union_set()).as_map());
  auto box = isl::set::universe(reached.range().space());
  const auto ranges = polyhedral::box(reached.range());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto dimension = static_cast<unsigned>(i);
    box = call(box.ctx(), isl_set_lower_bound_val, box.release(), isl_dim_set, dimension,
               isl::val(band.ctx(), ranges[i].min).release());
    box = call(box.ctx(), isl_set_upper_bound_val, box.release(), isl_dim_set, dimension,
               isl::val(band.ctx(), ranges[i].max).release());
  }
  const auto all = runs.range();
  const auto square = call(all.ctx(), isl_map_from_domain_and_range, all.copy(), box.copy());
  return all.subtract(square.subtract(reached).domain()).coalesce();
}

schedule_node visit(const Scop& scop, schedule_node node) {
  if (node.isa<isl::schedule_node_leaf>()) return node;
  const auto ids = statement_ids(node);
  if (is_band(node) && is_band(node.child(0)) && node.child(0).child(0).isa<isl::schedule_node_leaf>() &&
      ids.size() == 1) {
    const auto& domain = scop.statement(ids.front()).domain;
    if (ordered_dimensions(domain).empty()) return node;
    const auto wanted = whole(node, node.child(0), domain);
    const bool splits = !wanted.is_empty() && wanted.n_basic_set() == 1;
    return splits ? isolate(node, wanted) : node;
  }
  for (unsigned i = 0; i < node.n_children(); ++i) node = visit(scop, node.child(static_cast<int>(i))).parent();
  return node;
}

}  // namespace

isl::schedule isolate_whole_points(const Scop& scop, const std::vector<int>& path) {
  return visit(scop, node_at(scop.schedule, path)).schedule();
}

}  // namespace tc::polyhedral
