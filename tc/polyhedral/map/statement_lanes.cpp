#include "tc/polyhedral/map/statement_lanes.h"

#include "tc/polyhedral/core/cluster_view.h"

namespace tc::polyhedral {
namespace {

/// The instances of \p statement that are the lowest along \p iterator in one execution of the node.
isl::set lowest(const Subtree& subtree, const Statement& statement, int iterator) {
  auto runs = subtree.runs.intersect_range(isl::set::universe(statement.domain.space()).to_union_set()).as_map();
  auto along = isl::multi_aff(statement.domain.space().identity_multi_aff_on_domain()).at(iterator).as_map();
  auto least = runs.apply_range(along).lexmin();
  return runs.intersect(least.apply_range(along.reverse())).range();
}

std::int64_t first_lane(const Subtree& subtree, const Statement& statement, const StatementMapping& choice) {
  auto member = lane_member(subtree, statement, choice);
  if (!member) return 0;
  return values(lane_of(*member, choice), lowest(subtree, statement, choice.iterator).to_union_set()).max;
}

}  // namespace

AccessLanes lanes_of(const Access& access, int iterator) {
  if (!access.function.isa_multi_aff()) return {-1, true};
  auto index = access.function.as_multi_aff();
  AccessLanes result;
  for (unsigned i = 0; i < index.size(); ++i) {
    auto aff = index.at(static_cast<int>(i));
    if (isl_aff_involves_dims(aff.get(), isl_dim_in, iterator, 1) != isl_bool_true) continue;
    bool steps = isl_aff_dim(aff.get(), isl_dim_div) == 0 &&
                 call(aff.ctx(), isl_aff_get_coefficient_val, aff.get(), isl_dim_in, iterator).is_one();
    if (!steps || result.dimension >= 0) return {-1, true};
    result.dimension = static_cast<int>(i);
  }
  return result;
}

std::optional<isl::union_pw_aff> lane_member(const Subtree& subtree, const Statement& statement,
                                             const StatementMapping& choice) {
  auto points = points_of(subtree, statement.id);
  if (!points.isa<isl::schedule_node_band>()) return std::nullopt;
  for (const auto& member : band_members(points))
    if (only_iterator(member, statement.domain) == choice.iterator) return member;
  return std::nullopt;
}

isl::union_pw_aff lane_of(const isl::union_pw_aff& value, const StatementMapping& choice) {
  return call(value.ctx(), isl_union_pw_aff_mod_val, value.copy(), isl::val(value.ctx(), choice.lanes).release());
}

bool has_full_vectors(const Statement& statement, const StatementMapping& choice, const isl::union_pw_aff& member) {
  auto iterator = isl::union_pw_aff(statement.domain.space().identity_multi_aff_on_domain().at(choice.iterator));
  auto begins = values(lane_of(iterator.sub(member), choice), statement.domain.to_union_set());
  auto range = box(statement.domain).at(choice.iterator);
  return begins.min == begins.max && (range.min - begins.min) % choice.lanes == 0 && range.is_multiple_of(choice.lanes);
}

std::int64_t FirstLanes::of(const Statement& statement, const StatementMapping& choice) {
  auto found = found_.find(statement.id);
  if (found == found_.end()) found = found_.emplace(statement.id, first_lane(subtree_, statement, choice)).first;
  return found->second;
}

}  // namespace tc::polyhedral
