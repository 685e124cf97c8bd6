#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_space.h"

namespace tc::polyhedral {

/// The loops of \p branch over \p index that threads along one dimension of a block run, outermost first: the digit of
/// the warps, where there are several along it, and of their threads.
std::vector<NestLoop> thread_loops(const NestBranch& branch, const NestIndex& index);

/// Consecutive values of \p member, of the outer band, below the loops of the trunk of \p nest.
///
///   m/128 on grid.y   m%128/64      64
std::int64_t tile_of(const NestSpace& space, const Nest& nest, int member);

/// The branch of \p nest that spreads \p index, a member of the outer band, over threads: all that do do it alike. The
/// first branch where none does.
const NestBranch& branch_with_threads(const Nest& nest, const NestIndex& index);

/// \p nest with at most so many blocks as \p grid says along each dimension: each then runs several tiles.
Nest with_grid(const NestSpace& space, const Nest& nest, const std::array<std::int64_t, 3>& grid);

/// The iterators of a statement along which a unit counts rows and columns of the result, and what it sums over.
struct UnitIterators {
  int rows = -1, columns = -1, steps = -1;
};

/// The unit's iterators in branch number \p number: rows are on threads along y, columns along x, and loops run over what is summed.
UnitIterators unit_iterators(const NestSpace& space, const NestBranch& branch, int number);

}  // namespace tc::polyhedral
