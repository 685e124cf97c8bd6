#include "tc/polyhedral/core/constraints.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>

namespace tc::polyhedral {
namespace {

void add_rows(isl_mat* rows, bool equality, std::vector<Constraint>& result) {
  const std::unique_ptr<isl_mat, decltype(&isl_mat_free)> matrix(rows, isl_mat_free);
  const int columns = isl_mat_cols(rows);
  for (int row = 0; row < isl_mat_rows(rows); ++row) {
    auto element = [&](int column) { return isl::manage(isl_mat_get_element_val(rows, row, column)).num_si(); };
    Constraint constraint{{}, element(columns - 1), equality};
    for (int column = 0; column + 1 < columns; ++column) constraint.factors.push_back(element(column));
    result.push_back(std::move(constraint));
  }
}

}  // namespace

std::vector<Constraint> constraints(const isl::basic_set& set) {
  std::vector<Constraint> result;
  auto rows = [&](auto matrix) { return matrix(set.get(), isl_dim_set, isl_dim_div, isl_dim_param, isl_dim_cst); };
  add_rows(rows(isl_basic_set_equalities_matrix), true, result);
  add_rows(rows(isl_basic_set_inequalities_matrix), false, result);
  return result;
}

std::optional<std::vector<std::pair<std::int64_t, std::int64_t>>> stated_bounds(const isl::set& set) {
  if (isl_set_is_box(set.get()) != isl_bool_true) return std::nullopt;
  using Limits = std::numeric_limits<std::int64_t>;
  std::vector<std::pair<std::int64_t, std::int64_t>> result(static_cast<std::size_t>(dimensions(set)),
                                                            {Limits::min(), Limits::max()});
  bool plain = true;
  set.foreach_basic_set([&](const isl::basic_set& piece) {
    for (const auto& [factors, constant, equality] : constraints(piece)) {
      const auto factor = std::find_if(factors.begin(), factors.end(), [](auto f) { return f != 0; });
      const auto dimension = static_cast<std::size_t>(factor - factors.begin());
      plain = plain && dimension < result.size() && std::abs(*factor) == 1;
      if (!plain) return;
      auto& [min, max] = result[dimension];
      const auto bound = -constant * *factor;
      if (equality || *factor > 0) min = std::max(min, bound);
      if (equality || *factor < 0) max = std::min(max, bound);
    }
  });
  for (const auto& [min, max] : result) plain = plain && Limits::min() < min && min <= max && max < Limits::max();
  return plain ? std::optional(result) : std::nullopt;
}

std::set<std::pair<int, int>> ordered_dimensions(const isl::set& set) {
  std::set<std::pair<int, int>> result;
  const int count = dimensions(set);
  set.foreach_basic_set([&](const isl::basic_set& piece) {
    for (const auto& constraint : constraints(piece))
      for (int i = 0; i < count; ++i)
        for (int j = 0; j < count; ++j)
          if (constraint.factors[static_cast<std::size_t>(i)] > 0 &&
              constraint.factors[static_cast<std::size_t>(j)] < 0)
            result.insert({i, j}), result.insert({j, i});
  });
  return result;
}

}  // namespace tc::polyhedral
