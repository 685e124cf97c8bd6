#include "tc/polyhedral/core/symbolic_box.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "tc/base/ceil_div.h"
#include "tc/polyhedral/core/constraints.h"

namespace tc::polyhedral {
namespace {

using Limits = std::numeric_limits<std::int64_t>;

/// The values of a variable or of a sum; the limits of the type where nothing is stated.
struct Values {
  std::int64_t min = Limits::min(), max = Limits::max();
};

bool is_stated(std::int64_t bound) { return bound != Limits::min() && bound != Limits::max(); }

/// \p sum + \p factor * \p bound; \p unknown where one of them is not stated.
std::int64_t plus(std::int64_t sum, std::int64_t factor, std::int64_t bound, std::int64_t unknown) {
  if (factor == 0) return sum;
  return is_stated(sum) && is_stated(bound) ? sum + factor * bound : unknown;
}

/// constant + sum of factors * variables: the quotients of a set, then its parameters.
struct Sum {
  std::int64_t constant = 0;
  std::vector<std::int64_t> factors;

  bool is_constant() const {
    return std::all_of(factors.begin(), factors.end(), [](auto factor) { return factor == 0; });
  }
};

/// Reads the constraints of one set.
class BoxReader {
 public:
  explicit BoxReader(const isl::basic_set& set)
      : set_(set),
        dimensions_(static_cast<std::size_t>(isl_basic_set_dim(set.get(), isl_dim_set))),
        quotients_(static_cast<std::size_t>(isl_basic_set_dim(set.get(), isl_dim_div))),
        variables_(quotients_ + static_cast<std::size_t>(isl_basic_set_dim(set.get(), isl_dim_param))),
        lower_(dimensions_, Limits::min()),
        upper_(dimensions_) {}

  std::optional<std::vector<Interval>> read() {
    const auto all = constraints(set_);
    for (const auto& constraint : all)
      if (!read_size(constraint)) return std::nullopt;
    for (std::size_t q = 0; q < quotients_; ++q)
      if (!read_quotient(q)) return std::nullopt;
    for (const auto& constraint : all)
      if (!read_bound(constraint)) return std::nullopt;
    std::vector<Interval> result;
    for (std::size_t d = 0; d < dimensions_; ++d) {
      const auto interval = interval_of(d);
      if (!interval) return std::nullopt;
      result.push_back(*interval);
    }
    return result;
  }

 private:
  /// The variables that \p constraint has a factor of, as positions among its factors.
  static std::vector<std::size_t> named(const Constraint& constraint) {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < constraint.factors.size(); ++i)
      if (constraint.factors[i] != 0) result.push_back(i);
    return result;
  }

  /// Takes a bound of a size; false for a relation of sizes.
  bool read_size(const Constraint& constraint) {
    const auto names = named(constraint);
    if (names.empty() || names.front() < dimensions_ + quotients_) return true;
    if (names.size() > 1 || std::abs(constraint.factors[names.front()]) != 1) return false;
    auto& values = variables_[names.front() - dimensions_];
    const auto factor = constraint.factors[names.front()], bound = -constraint.constant * factor;
    if (constraint.equality || factor > 0) values.min = std::max(values.min, bound);
    if (constraint.equality || factor < 0) values.max = std::min(values.max, bound);
    return true;
  }

  /// Finds the values of quotient number \p q; false unless it is one of a sum of sizes.
  bool read_quotient(std::size_t q) {
    const auto ctx = set_.ctx();
    const auto quotient = call(ctx, isl_basic_set_get_div, set_.get(), static_cast<int>(q));
    const auto denominator = call(ctx, isl_aff_get_denominator_val, quotient.get());
    const auto numerator = call(ctx, isl_aff_scale_val, quotient.copy(), denominator.copy());
    const auto quotients = static_cast<unsigned>(isl_aff_dim(numerator.get(), isl_dim_div));
    if (quotients > 0 && isl_aff_involves_dims(numerator.get(), isl_dim_div, 0, quotients) == isl_bool_true)
      return false;
    if (dimensions_ > 0 &&
        isl_aff_involves_dims(numerator.get(), isl_dim_in, 0, static_cast<unsigned>(dimensions_)) == isl_bool_true)
      return false;
    Sum sum{call(ctx, isl_aff_get_constant_val, numerator.get()).num_si(), {}};
    sum.factors.resize(variables_.size());
    for (std::size_t p = quotients_; p < variables_.size(); ++p)
      sum.factors[p] =
          call(ctx, isl_aff_get_coefficient_val, numerator.get(), isl_dim_param, static_cast<int>(p - quotients_))
              .num_si();
    const auto values = values_of(sum);
    const auto divided = [&](std::int64_t bound) {
      return is_stated(bound) ? floor_div(bound, denominator.num_si()) : bound;
    };
    variables_[q] = {divided(values.min), divided(values.max)};
    numerators_.emplace_back(std::move(sum), denominator.num_si());
    return true;
  }

  /// Does \p constraint say no more than that quotient number \p q is one?
  bool defines(const Constraint& constraint, std::size_t q) const {
    const auto& [numerator, denominator] = numerators_[q];
    const auto factor = constraint.factors[dimensions_ + q];
    if (constraint.equality || std::abs(factor) != denominator) return false;
    const std::int64_t sign = factor > 0 ? -1 : 1;  // of the numerator
    for (std::size_t v = quotients_; v < variables_.size(); ++v)
      if (constraint.factors[dimensions_ + v] != sign * numerator.factors[v]) return false;
    return constraint.constant >= (sign > 0 ? numerator.constant : denominator - 1 - numerator.constant);
  }

  /// Takes a bound of a dimension; false where \p constraint is none, and more than that a quotient is one.
  bool read_bound(const Constraint& constraint) {
    const auto names = named(constraint);
    if (names.empty() || names.front() >= dimensions_ + quotients_) return true;
    if (names.front() >= dimensions_) {
      const auto q = names.front() - dimensions_;
      return std::none_of(names.begin() + 1, names.end(), [&](auto n) { return n < dimensions_ + quotients_; }) &&
             defines(constraint, q);
    }
    const auto factor = constraint.factors[names.front()];
    if ((names.size() > 1 && names[1] < dimensions_) || std::abs(factor) != 1 || constraint.equality) return false;
    Sum sum{constraint.constant,
            {constraint.factors.begin() + static_cast<std::ptrdiff_t>(dimensions_), constraint.factors.end()}};
    if (factor < 0) {
      upper_[names.front()].push_back(std::move(sum));
      return true;
    }
    lower_[names.front()] = std::max(lower_[names.front()], -constraint.constant);
    return sum.is_constant();
  }

  Values values_of(const Sum& sum) const {
    Values result{sum.constant, sum.constant};
    for (std::size_t v = 0; v < sum.factors.size(); ++v) {
      const auto factor = sum.factors[v];
      result.min = plus(result.min, factor, factor > 0 ? variables_[v].min : variables_[v].max, Limits::min());
      result.max = plus(result.max, factor, factor > 0 ? variables_[v].max : variables_[v].min, Limits::max());
    }
    return result;
  }

  /// Does \p sum take the ends of values_of()? Not if a size stands in it twice, by itself or in quotients.
  bool takes_ends(const Sum& sum) const {
    std::vector<int> times(variables_.size());
    for (std::size_t v = 0; v < sum.factors.size(); ++v) {
      if (sum.factors[v] == 0) continue;
      if (v >= quotients_) ++times[v];
      if (v < quotients_)
        for (std::size_t p = quotients_; p < variables_.size(); ++p) times[p] += numerators_[v].first.factors[p] != 0;
    }
    return std::all_of(times.begin(), times.end(), [](int count) { return count <= 1; });
  }

  /// The bound that is the least of \p sums in every run; null where none is.
  const Sum* least_of(const std::vector<Sum>& sums) const {
    for (const auto& sum : sums) {
      const auto own = values_of(sum);
      if (std::all_of(sums.begin(), sums.end(), [&](const Sum& other) {
            return &other == &sum || (is_stated(own.max) && own.max <= values_of(other).min);
          }))
        return &sum;
    }
    return nullptr;
  }

  std::optional<Interval> interval_of(std::size_t dimension) const {
    const auto* last = least_of(upper_[dimension]);
    const auto first = lower_[dimension];
    if (!last || first == Limits::min() || !takes_ends(*last)) return std::nullopt;
    Interval result{first, values_of(*last).max};
    if (result.max < result.min || !is_stated(result.max)) return std::nullopt;
    result.symbolic = !last->is_constant();
    if (!result.symbolic) return result;
    auto divisor = std::gcd(largest_multiple, last->constant + 1 - first);
    for (const auto factor : last->factors) divisor = std::gcd(divisor, factor);
    result.multiple = std::max<std::int64_t>(divisor, 1);
    return result;
  }

  const isl::basic_set& set_;
  std::size_t dimensions_, quotients_;
  std::vector<Values> variables_;                         ///< of quotients, then of sizes
  std::vector<std::pair<Sum, std::int64_t>> numerators_;  ///< of quotients, and denominators
  std::vector<std::int64_t> lower_;
  std::vector<std::vector<Sum>> upper_;
};

}  // namespace

std::optional<std::vector<Interval>> symbolic_box_as_written(const isl::set& domain) {
  if (isl_set_n_basic_set(domain.get()) != 1) return std::nullopt;
  const auto known = call(domain.ctx(), isl_set_compute_divs, domain.copy());
  std::optional<std::vector<Interval>> result;
  known.foreach_basic_set([&](const isl::basic_set& set) { result = BoxReader(set).read(); });
  return isl_set_n_basic_set(known.get()) == 1 ? result : std::nullopt;
}

}  // namespace tc::polyhedral
