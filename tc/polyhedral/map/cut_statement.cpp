#include "tc/polyhedral/map/cut_statement.h"

#include "tc/base/ceil_div.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"

namespace tc::polyhedral {
namespace {

Interval range_of(const Statement& statement, int cut) {
  return box(statement.domain).at(static_cast<std::size_t>(cut));
}

/// "S[p, i0, i1]"
std::string tuple_of(const Statement& statement) {
  return str(statement.id, "[p, ", join(dimension_names(dimensions(statement.domain))), "]");
}

/// The part and the place in it, as a box.
isl::set bounds(const Statement& statement, int cut, std::int64_t size) {
  const auto place = dimension_names(dimensions(statement.domain)).at(static_cast<std::size_t>(cut));
  const auto parts = ceil_div(range_of(statement, cut).extent(), size);
  return isl::set(statement.domain.ctx(),
                  str("{ ", tuple_of(statement), " : 0 <= p < ", parts, " and 0 <= ", place, " < ", size, " }"));
}

}  // namespace

isl::multi_aff uncut(const Statement& statement, int cut, std::int64_t size) {
  auto source = dimension_names(dimensions(statement.domain));
  auto& place = source[static_cast<std::size_t>(cut)];
  place = str(range_of(statement, cut).min, " + ", size, " p + ", place);
  return isl::multi_aff(statement.domain.ctx(),
                        str("{ ", tuple_of(statement), " -> ", statement.id, "[", join(source), "] }"));
}

Statement cut_statement(const Statement& statement, int cut, std::int64_t size) {
  const auto from = uncut(statement, cut, size);
  auto domain = statement.domain.preimage(from).intersect(bounds(statement, cut, size));
  domain = call(domain.ctx(), isl_set_remove_redundancies, domain.copy());
  auto result = moved(statement, from, domain);
  result.iterators.insert(result.iterators.begin(), statement.iterators[static_cast<std::size_t>(cut)] + "_part");
  return result;
}

}  // namespace tc::polyhedral
