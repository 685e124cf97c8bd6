#pragma once

#include <optional>
#include <vector>

#include "tc/polyhedral/core/cluster_view.h"

namespace tc::polyhedral {

/// The box of \p domain, over symbolic sizes, where each of its constraints is a bound of one size or of one dimension: an upper one may
/// be a sum of sizes and of quotients of sizes. Nothing where others decide. Asks no integer program.
///
///   [N] -> { [i, j] : 1 <= N <= 100 and 0 <= i < 64 floor((N + 63)/64) and 2 <= j <= 8 }
///   i from 0 to 127, symbolic, a multiple of 64; j from 2 to 8
std::optional<std::vector<Interval>> symbolic_box_as_written(const isl::set& domain);

}  // namespace tc::polyhedral
