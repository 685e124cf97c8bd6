#include "tc/polyhedral/map/footprint_box.h"

namespace tc::polyhedral {
namespace {

/// The elements that \p access needs room for: the lanes of a vector load whether a guard lets them read or not.
isl::map reach(const ClusterState& cluster, const Statement& statement, const Access& access) {
  if (cluster.statement(statement.id).iterator < 0) return access.relation;
  return access.function.as_map().intersect_domain(statement.domain);
}

/// The element of the box \p footprint that \p access, one of \p statement, touches.
isl::pw_multi_aff placed(const Subtree& subtree, const Statement& statement, const Access& access,
                         const FootprintBox& footprint) {
  auto space = footprint.elements.space();
  auto offset = footprint.offset.pullback(isl::multi_aff::domain_map(space));
  auto place = isl::multi_aff::range_map(space).sub(offset).to_pw_multi_aff();
  auto where =
      subtree.prefix.intersect_domain(isl::set::universe(statement.domain.space()).to_union_set()).as_pw_multi_aff();
  return place.pullback(where.gist(statement.domain).range_product(access.function));
}

}  // namespace

std::optional<FootprintBox> footprint_box(const Scop& scop, const Subtree& subtree, const ClusterState& cluster,
                                          const std::string& tensor) {
  auto touched = isl::union_map::empty(scop.ctx()), reached = touched;
  for_each_access(scop, subtree, tensor, [&](const AccessPlace&, const Statement& statement, const Access& access) {
    touched = touched.unite(access.relation.to_union_map());
    reached = reached.unite(reach(cluster, statement, access).to_union_map());
  });
  touched = subtree.runs.apply_range(touched);
  if (touched.is_empty()) return std::nullopt;
  auto in_each_run = touched.as_map().coalesce();
  if (!in_each_run.is_injective()) return std::nullopt;
  auto box = subtree.runs.apply_range(reached).as_map().coalesce().range_simple_fixed_box_hull();
  if (!box.is_valid()) return std::nullopt;
  FootprintBox result{in_each_run, box.offset(), {}, {}};
  for (const auto& size : elements(box.size().list())) result.extent.push_back(size.num_si());
  for_each_access(scop, subtree, tensor, [&](const AccessPlace& at, const Statement& statement, const Access& access) {
    result.places.emplace(at, placed(subtree, statement, access, result));
  });
  return result;
}

}  // namespace tc::polyhedral
