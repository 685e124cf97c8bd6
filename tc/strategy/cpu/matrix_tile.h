#pragma once

#include <optional>

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/map/mapping.h"

namespace tc::strategy {

/// Which outer members of a cluster are the rows and columns of products in registers for matrices, how many iterations
/// of them a tile of such registers has, and the reduced iterator along which they multiply.
struct MatrixTile {
  int rows = -1, columns = -1;
  std::int64_t row_points = 0, column_points = 0;
  polyhedral::DotMapping dot;
};

/// The tile for \p entry, a reduction in loops of its own, where \p target has such registers and they are of use:
///
///   types      the statement adds up products of two bfloat16 in float32, or of two bytes in int32
///   columns    an outer member along which the result is contiguous; one factor is indexed by it, not by the rows
///   rows       the longest outer member that only the other factor is indexed by
///   steps      the longest reduced iterator that indexes both; for the rows' factor one along which it is contiguous comes first
///   use        the columns' factor is copied, which at least 16 rows have to pay for; registers have room for r x c accumulators of 16 x 16,
///              r x c at most 2 x 2 or 1 x 3 or 3 x 1, with the greatest
///                fill(rows, 16 r) * fill(columns, 16 c) * r c / (r c + r + c)     fill(n, s) = n / (n rounded up to s)
///              and a quarter of the products of a tile counts
///
/// Nothing with options that choose tiles or lanes, or forbid copies.
std::optional<MatrixTile> choose_matrix_tile(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                                             const polyhedral::ClusterStatement& entry, const Target& target,
                                             const polyhedral::MappingOptions& options);

}  // namespace tc::strategy
