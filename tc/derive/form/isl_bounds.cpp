#include "tc/derive/form/isl_bounds.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "tc/derive/form/refusal.h"
#include "tc/polyhedral/core/constraints.h"

namespace tc::derive {

namespace {

/// The bounds that constraints on one dimension alone state; where there are none, nothing.
struct Bounds {
  std::optional<std::int64_t> low, high;
};

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

void take_bounds(const polyhedral::Constraint& constraint, std::vector<Bounds>& bounds) {
  const auto& factors = constraint.factors;
  auto is_used = [](std::int64_t factor) { return factor != 0; };
  const auto only = std::find_if(factors.begin(), factors.end(), is_used) - factors.begin();
  if (std::count_if(factors.begin(), factors.end(), is_used) != 1 || only >= static_cast<std::ptrdiff_t>(bounds.size()))
    return;
  const auto factor = factors[static_cast<std::size_t>(only)], constant = constraint.constant;
  auto& own = bounds[static_cast<std::size_t>(only)];
  const auto least = factor > 0 ? -floor_divide(constant, factor) : -floor_divide(-constant, -factor);
  if (factor > 0 || constraint.equality) own.low = std::max(own.low.value_or(least), least);
  const auto most = floor_divide(factor > 0 ? -constant : constant, std::abs(factor));
  if (factor < 0 || constraint.equality) own.high = std::min(own.high.value_or(most), most);
}

lang::IntegerRange exact_range(const isl::set& set, int d) {
  const auto low = set.dim_min_val(d), high = set.dim_max_val(d);
  if (!low.is_int() || !high.is_int()) throw Refusal{"an index has no bounds"};
  return {low.num_si(), high.num_si() - low.num_si() + 1};
}

}  // namespace

lang::Box hull(const isl::set& set) {
  lang::Box box;
  for (int d = 0; d < polyhedral::dimensions(set); ++d) box.push_back(exact_range(set, d));
  return box;
}

namespace {

/// Bounds of each dimension of \p set as its constraints state them; nothing for one that they leave open.
std::vector<std::optional<lang::IntegerRange>> stated_ranges_of(const isl::set& set) {
  const auto count = static_cast<std::size_t>(polyhedral::dimensions(set));
  std::vector<Bounds> all(count);
  std::vector<bool> open(count, false);
  bool first = true;
  set.foreach_basic_set([&](const isl::basic_set& part) {
    std::vector<Bounds> own(count);
    for (const auto& constraint : polyhedral::constraints(part)) take_bounds(constraint, own);
    for (std::size_t d = 0; d < count; ++d) {
      open[d] = open[d] || !own[d].low || !own[d].high;
      if (open[d]) continue;
      all[d].low = first ? own[d].low : std::min(all[d].low, own[d].low);
      all[d].high = first ? own[d].high : std::max(all[d].high, own[d].high);
    }
    first = false;
  });
  std::vector<std::optional<lang::IntegerRange>> result(count);
  for (std::size_t d = 0; d < count; ++d)
    if (!open[d] && !first) result[d] = {*all[d].low, *all[d].high - *all[d].low + 1};
  return result;
}

}  // namespace

lang::Box stated_box(const isl::set& set, std::size_t from) {
  const auto ranges = stated_ranges_of(set);
  lang::Box box;
  for (std::size_t d = from; d < ranges.size(); ++d)
    box.push_back(ranges[d] ? *ranges[d] : exact_range(set, static_cast<int>(d)));
  return box;
}

lang::Box stated_box(const isl::set& set, const lang::Box& known) {
  const auto ranges = stated_ranges_of(set);
  lang::Box box;
  for (std::size_t d = 0; d < ranges.size(); ++d)
    box.push_back(ranges[d] ? *ranges[d] : d < known.size() ? known[d] : exact_range(set, static_cast<int>(d)));
  return box;
}

namespace {

bool depends(const isl::aff& aff, int dimension) {
  return isl_aff_involves_dims(aff.get(), isl_dim_in, static_cast<unsigned>(dimension), 1) == isl_bool_true;
}

int outputs(const isl::multi_aff& function) { return static_cast<int>(function.size()); }

}  // namespace

bool depends(const isl::multi_aff& function, int output, int dimension) {
  return depends(function.at(output), dimension);
}

bool depends(const isl::multi_aff& function, int dimension) {
  for (int o = 0; o < outputs(function); ++o)
    if (depends(function, o, dimension)) return true;
  return false;
}

std::int64_t factor(const isl::multi_aff& function, int output, int dimension) {
  const auto aff = function.at(output);
  const auto value = polyhedral::call(aff.ctx(), isl_aff_get_coefficient_val, aff.get(), isl_dim_in, dimension);
  return value.is_int() ? value.num_si() : 0;
}

std::optional<lang::Box> values(const isl::multi_aff& function, const lang::Box& ranges) {
  lang::Box box;
  for (int o = 0; o < outputs(function); ++o) {
    const auto aff = function.at(o);
    const auto constant = aff.constant_val();
    if (aff.involves_locals() || !constant.is_int()) return std::nullopt;
    std::int64_t low = constant.num_si(), high = low;
    for (std::size_t d = 0; d < ranges.size(); ++d) {
      const auto own = factor(function, o, static_cast<int>(d));
      const auto first = own * ranges[d].min, last = own * (ranges[d].min + ranges[d].extent - 1);
      low += std::min(first, last);
      high += std::max(first, last);
    }
    box.push_back({low, high - low + 1});
  }
  return box;
}

}  // namespace tc::derive
