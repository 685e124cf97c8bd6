#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/map/grid_mapping.h"
#include "tc/strategy/grid/contraction_view.h"

namespace tc::strategy {

/// The mapping of a cluster whose heaviest statement adds up products of what two groups of its members index: a block
/// computes a tile of the result, a thread a smaller one in registers, from copies of the operands in shared memory;
/// nothing where the cluster is of another kind or too small.
///
///   C(m, n) +=! A(m, k) * B(k, n)      tile 128x128, thread 8x8, blocks of 16 k, copies of A and B
std::optional<polyhedral::GridClusterMapping> tile_contraction(const polyhedral::Scop& scop,
                                                               const polyhedral::ClusterView& cluster,
                                                               const GridLimits& limits,
                                                               const polyhedral::MappingOptions& options);

/// The contraction that tile_contraction() would tile; nothing where there is none, or one too short.
std::optional<ContractionView> tileable_contraction(const polyhedral::Scop& scop,
                                                    const polyhedral::ClusterView& cluster, const GridLimits& limits,
                                                    const polyhedral::MappingOptions& options);
/// The mapping of the cluster of \p view, by the options that it has.
std::optional<polyhedral::GridClusterMapping> tile_contraction(const ContractionView& view);

/// A block of \p threads_along_rows x \p threads_along_columns threads with so many rows and columns each. With \p in_warps, each
/// warp has a tile of its own, 8 threads along rows and 4 along columns: its threads load fewer different elements of copies.
struct ProductTile {
  std::int64_t threads_along_rows = 16, threads_along_columns = 16;
  std::int64_t rows = 0, columns = 0;
  bool in_warps = false;
};
/// The mapping with \p tile; nothing where subscripts that depend on data would be followed by each thread.
std::optional<polyhedral::GridClusterMapping> tile_contraction(const ContractionView& view, const ProductTile& tile);

/// Multiply-adds that a thread's code should have between two barriers, at most: NVRTC takes a second for so many.
inline constexpr std::int64_t most_between_barriers = 2560;
/// Steps of the sum between two barriers of \p mapping.
std::int64_t steps_between_barriers(const ContractionView& view, const polyhedral::GridClusterMapping& mapping);

/// May neighbouring elements of each row be touched at once? Copies are laid out so.
bool writes_vectors(const ContractionView& view);
/// \p mapping with the accumulators, and temporaries of the cluster, in registers.
polyhedral::GridClusterMapping staged(const ContractionView& view, const polyhedral::GridClusterMapping& mapping);
/// The members of \p view, from those along which blocks share most: for x, y and z of the grid.
std::vector<int> grid_order(const ContractionView& view);

}  // namespace tc::strategy
