#include "tc/halide_bridge/raise/member_ranges.h"

#include "tc/polyhedral/core/schedule_walk.h"

namespace tc::halide_bridge {

std::map<std::string, std::vector<polyhedral::Interval>> member_ranges(const polyhedral::Scop& scop) {
  std::map<std::string, std::vector<polyhedral::Interval>> result;
  polyhedral::for_each_place(scop.schedule, [&](const polyhedral::Place& place) {
    if (!place.node.isa<isl::schedule_node_leaf>() || place.members() == 0) return;
    place.instances.foreach_set([&](const isl::set& instances) {
      const auto runs = place.prefix.intersect_domain(instances.to_union_set());
      if (!runs.is_empty()) result.emplace(polyhedral::tuple_name(instances), polyhedral::box(runs.as_map().range()));
    });
  });
  return result;
}

}  // namespace tc::halide_bridge
