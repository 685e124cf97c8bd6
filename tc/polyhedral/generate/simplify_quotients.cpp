#include "tc/polyhedral/generate/simplify_quotients.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "tc/base/ceil_div.h"
#include "tc/polyhedral/core/isl.h"

namespace tc::polyhedral {
namespace {

/// Values from `min` to `max`.
struct Range {
  std::int64_t min = 0, max = 0;
};

/// The ranges of the variables of a set.
class Ranges {
 public:
  explicit Ranges(const isl::set& domain)
      : parameters_(static_cast<unsigned>(isl_set_dim(domain.get(), isl_dim_param))),
        all_(call(domain.ctx(), isl_set_move_dims, domain.copy(), isl_dim_set, 0u, isl_dim_param, 0u, parameters_)) {}

  /// Nothing where a variable has no bound.
  std::optional<Range> of(isl_dim_type type, int position) {
    int place = type == isl_dim_param ? position : position + static_cast<int>(parameters_);
    auto found = known_.find(place);
    if (found != known_.end()) return found->second;
    auto min = call(all_.ctx(), isl_set_dim_min_val, all_.copy(), place),
         max = call(all_.ctx(), isl_set_dim_max_val, all_.copy(), place);
    std::optional<Range> range;
    if (min.is_int() && max.is_int()) range = Range{min.num_si(), max.num_si()};
    return known_[place] = range;
  }

 private:
  unsigned parameters_;
  isl::set all_;
  std::map<int, std::optional<Range>> known_;
};

/// factor * variable.
struct Term {
  isl_dim_type type;
  int position;
  std::int64_t factor;
};

/// The terms of \p expression, which has integer coefficients, quotients left out.
std::vector<Term> terms_of(const isl::aff& expression) {
  std::vector<Term> result;
  for (auto type : {isl_dim_param, isl_dim_in})
    for (int i = 0; i < isl_aff_dim(expression.get(), type); ++i) {
      auto factor = call(expression.ctx(), isl_aff_get_coefficient_val, expression.get(), type, i).num_si();
      if (factor != 0) result.push_back({type, i, factor});
    }
  return result;
}

/// \p value times \p by.
isl::aff scaled(const isl::aff& value, const isl::val& by) {
  return call(value.ctx(), isl_aff_scale_val, value.copy(), by.copy());
}

/// Without the terms that do not matter: floor(\p numerator / \p denominator), of integer coefficients and no
/// quotients.
isl::aff quotient_of(const isl::aff& numerator, std::int64_t denominator, Ranges& ranges) {
  auto ctx = numerator.ctx();
  auto terms = terms_of(numerator);
  auto constant = call(ctx, isl_aff_get_constant_val, numerator.get()).num_si();
  std::set<std::int64_t, std::greater<>> steps;
  for (const auto& term : terms) steps.insert(std::gcd(term.factor, denominator));
  for (auto step : steps) {
    Range rest{constant, constant};
    bool known = step > 1;
    auto others = numerator;
    for (const auto& term : terms) {
      if (!known || term.factor % step == 0) continue;
      auto range = ranges.of(term.type, term.position);
      known = range.has_value();
      if (!known) break;
      auto first = term.factor * range->min, last = term.factor * range->max;
      rest.min += std::min(first, last);
      rest.max += std::max(first, last);
      others = call(ctx, isl_aff_set_coefficient_si, others.copy(), term.type, term.position, 0);
    }
    if (!known || floor_div(rest.min, step) != floor_div(rest.max, step)) continue;
    others =
        call(ctx, isl_aff_set_constant_val, others.copy(), isl::val(ctx, floor_div(rest.min, step) * step).release());
    return scaled(others, isl::val(ctx, 1).div(isl::val(ctx, denominator))).floor();
  }
  return scaled(numerator, isl::val(ctx, 1).div(isl::val(ctx, denominator))).floor();
}

bool has_quotients(const isl::aff& value) {
  auto count = static_cast<unsigned>(isl_aff_dim(value.get(), isl_dim_div));
  return count > 0 && isl_aff_involves_dims(value.get(), isl_dim_div, 0, count) == isl_bool_true;
}

/// \p function with simpler quotients, but for those of quotients.
isl::aff simplified(const isl::aff& function, Ranges& ranges) {
  auto ctx = function.ctx();
  auto result = function;
  for (int i = 0; i < isl_aff_dim(function.get(), isl_dim_div); ++i) {
    auto factor = call(ctx, isl_aff_get_coefficient_val, function.get(), isl_dim_div, i);
    auto quotient = call(ctx, isl_aff_get_div, function.get(), i);
    auto denominator = call(ctx, isl_aff_get_denominator_val, quotient.get());
    auto numerator = scaled(quotient, denominator);
    if (factor.is_zero() || has_quotients(numerator)) continue;
    auto old = scaled(quotient.floor(), factor),
         simpler = scaled(quotient_of(numerator, denominator.num_si(), ranges), factor);
    result = result.sub(old).add(simpler);
  }
  return result;
}

}  // namespace

isl::pw_multi_aff simplify_quotients(const isl::pw_multi_aff& function, const isl::set& domain) {
  Ranges ranges(domain);
  Nullable<isl::pw_multi_aff> result;
  function.foreach_piece([&](const isl::set& piece, const isl::multi_aff& values) {
    auto simpler = values;
    for (unsigned i = 0; i < values.size(); ++i)
      simpler = simpler.set_at(static_cast<int>(i), simplified(values.at(static_cast<int>(i)), ranges));
    auto part = call(piece.ctx(), isl_pw_multi_aff_alloc, piece.copy(), simpler.copy());
    result = result.is_null() ? part : result.union_add(part);
  });
  return result.is_null() ? function : isl::pw_multi_aff(result);
}

}  // namespace tc::polyhedral
