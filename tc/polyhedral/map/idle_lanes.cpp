#include "tc/polyhedral/map/idle_lanes.h"

#include "tc/base/str.h"
#include "tc/polyhedral/core/instances.h"

namespace tc::polyhedral {
namespace {

/// { [name[i] -> [a]] -> name[i] }, with \p sign a added to dimension \p dimension.
isl::map shift(isl::ctx ctx, const std::string& name, int rank, int dimension, const char* sign) {
  auto names = dimension_names(rank), moved = names;
  moved.at(dimension) += str(" ", sign, " a");
  return isl::map(ctx, str("{ [", name, "[", join(names), "] -> [a]] -> ", name, "[", join(moved), "] }"));
}

}  // namespace

isl::union_map idle_lanes(const Statement& statement, int iterator, const isl::union_pw_aff& lane, int lanes,
                          int dimension, const isl::union_map& runs) {
  auto ctx = statement.domain.ctx();
  auto nothing = isl::union_map::empty(ctx);
  auto of_statement = runs.intersect_domain(statement.domain.to_union_set());
  if (of_statement.is_empty()) return nothing;
  auto instances = of_statement.domain().as_set();
  auto at = call(ctx, isl_union_map_from_union_pw_aff, lane.copy()).intersect_domain(instances).as_map();
  auto self = call(ctx, isl_set_identity, instances.copy());
  auto name = tuple_name(statement.domain);
  auto start = self.range_product(at).apply_range(shift(ctx, name, dimensions(statement.domain), iterator, "-"));
  auto vectors = of_statement.range_product(start.to_union_map());
  auto running = vectors.reverse().apply_range(at.to_union_map());
  isl::map all(ctx, str("{ [a] -> [l] : a <= l < a + ", lanes, " }"));
  auto idle = vectors.apply_range(running.lexmin().apply_range(all.to_union_map()).subtract(running));
  if (idle.is_empty()) return nothing;
  isl::map apart(ctx, "{ [[a] -> [l]] -> [l - a] }");
  auto steps = at.range_product(idle.as_map()).apply_range(apart);
  auto place = statement.write.function.as_map().intersect_domain(instances);
  auto rank = static_cast<int>(isl_map_dim(place.get(), isl_dim_out));
  auto touched = place.range_product(steps).apply_range(shift(ctx, range_name(place), rank, dimension, "+"));
  return of_statement.reverse().apply_range(touched.to_union_map());
}

}  // namespace tc::polyhedral
