#include "tc/polyhedral/spread/grid_loops.h"

#include <algorithm>
#include <utility>

#include "tc/base/ceil_div.h"
#include "tc/polyhedral/core/cluster_view.h"

namespace tc::polyhedral {

isl::union_pw_aff in_groups(const isl::union_pw_aff& index, std::int64_t size) {
  return size > 1 ? quotient(index, size) : index;
}

OpenIndex::OpenIndex(isl::union_pw_aff whole, std::int64_t extent, bool coincident, std::int64_t mod)
    : levels_{{std::move(whole), mod}}, extent_(extent), coincident_(coincident) {}

std::int64_t OpenIndex::values(std::int64_t step) const { return ceil_div(extent_, step); }

isl::union_pw_aff OpenIndex::digit(std::int64_t step) const {
  const auto& level = levels_.back();
  if (levels_.size() < 3 || level.mod % step != 0) return in_groups(level.rest, step);
  const auto& above = levels_[levels_.size() - 2];
  return remainder(in_groups(above.rest, step), level.mod / step);
}

isl::union_pw_aff OpenIndex::coordinate(std::int64_t step) const {
  const auto period = values(step) * step;
  auto level = levels_.size() - 1;
  while (level > 0 && levels_[level].mod % period == 0) --level;
  const auto group = in_groups(levels_[level].rest, step);
  return level + 1 < levels_.size() ? remainder(group, values(step)) : group;
}

OpenIndex OpenIndex::below(std::int64_t step) const {
  auto result = *this;
  result.levels_.push_back({remainder(rest(), step), step});
  result.extent_ = std::min(extent_, step);
  return result;
}

isl::union_set everywhere(const isl::union_set& instances) {
  return call(instances.ctx(), isl_union_set_universe, instances.copy());
}

isl::union_pw_aff zero_on(const isl::union_set& domain) {
  return call(domain.ctx(), isl_union_pw_aff_val_on_domain, everywhere(domain).release(),
              isl::val(domain.ctx(), 0).release());
}

isl::union_pw_aff scaled(const isl::union_pw_aff& value, std::int64_t factor) {
  return call(value.ctx(), isl_union_pw_aff_scale_val, value.copy(), isl::val(value.ctx(), factor).release());
}

}  // namespace tc::polyhedral
