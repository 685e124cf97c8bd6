#include "tc/polyhedral/map/footprint_box.h"

#include "tc/polyhedral/map/buffer_slots.h"

namespace tc::polyhedral {
namespace {

/// The elements that \p access needs room for: the lanes of a vector load whether a guard lets them read or not.
isl::map reach(const ClusterState& cluster, const Statement& statement, const Access& access) {
  if (cluster.statement(statement.id).iterator < 0) return access.relation;
  return access.function.as_map().intersect_domain(statement.domain);
}

/// { [[prefix] -> T[x]] -> T[(x - offset) mod slots] }; without mod where the box has a place for each element.
isl::multi_aff place_of(const FootprintBox& footprint, const std::vector<std::int64_t>& elements) {
  const auto space = footprint.elements.space();
  auto place = isl::multi_aff::range_map(space).sub(footprint.offset.pullback(isl::multi_aff::domain_map(space)));
  for (std::size_t d = 0; d < elements.size(); ++d) {
    if (footprint.extent[d] == elements[d]) continue;
    const auto slot = place.at(static_cast<int>(d)).mod(isl::val(space.ctx(), static_cast<long>(footprint.extent[d])));
    place = place.set_at(static_cast<int>(d), slot);
  }
  return place;
}

/// The place that \p access, one of \p statement, touches, by \p place_of.
isl::pw_multi_aff placed(const Subtree& subtree, const Statement& statement, const Access& access,
                         const isl::multi_aff& place_of) {
  const auto place = place_of.to_pw_multi_aff();
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
  std::vector<std::int64_t> extent;
  for (const auto& size : elements(box.size().list())) extent.push_back(size.num_si());
  FootprintBox result{in_each_run, box.offset(), buffer_slots(scop, subtree, tensor, extent), extent};
  const auto place = place_of(result, extent);
  for_each_access(scop, subtree, tensor, [&](const AccessPlace& at, const Statement& statement, const Access& access) {
    result.places.emplace(at, placed(subtree, statement, access, place));
  });
  return result;
}

}  // namespace tc::polyhedral
