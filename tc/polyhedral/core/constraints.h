#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tc/polyhedral/core/isl.h"

namespace tc::polyhedral {

/// A linear form that is 0, or not negative.
struct Constraint {
  std::vector<std::int64_t> factors;  ///< of the dimensions, then of the divisions and of the parameters of its set
  std::int64_t constant = 0;
  bool equality = false;
};

/// What \p set states: equalities first.
///
///   { [h, r] : h + r >= 1 and h <= 6 }      h + r - 1 >= 0, 6 - h >= 0
std::vector<Constraint> constraints(const isl::basic_set& set);

/// The least and the largest value of each dimension of \p set where its constraints are these bounds and no others; nothing where they are
/// not, or contradict each other. Asks no integer program.
///
///   { [h, r] : 0 <= h <= 6 and r = 2 }      (0, 6), (2, 2)
std::optional<std::vector<std::pair<std::int64_t, std::int64_t>>> stated_bounds(const isl::set& set);

/// Pairs of dimensions of \p set that a constraint bounds the difference of, in both orders: of a triangle, of a band of a matrix.
///
///   { [i, j, k] : 0 <= j <= i < 8 and 0 <= k < 4 }      (0, 1), (1, 0)
std::set<std::pair<int, int>> ordered_dimensions(const isl::set& set);

}  // namespace tc::polyhedral
