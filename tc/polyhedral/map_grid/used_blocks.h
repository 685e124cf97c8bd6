#pragma once

#include <array>
#include <string>
#include <vector>

#include "tc/polyhedral/core/run_extent.h"
#include "tc/polyhedral/map_grid/map_to_grid.h"

namespace tc::polyhedral {

/// How many blocks of \p kernel have instances in a run, along each dimension of its grid, over the symbolic \p sizes, in their order;
/// fixed where sizes do not decide it. Never less than there are: blocks beyond have nothing to do.
///
///   before  { S[i, j] : 0 <= i < N } on blocks [floor(i/64), floor(j/32)], a grid of 8x4      after  x: min((N + 63) / 64, 8), y: 4
std::array<RunExtent, 3> used_blocks(const GridKernel& kernel, const std::vector<std::string>& sizes);

/// The law of grids: the blocks that instances of \p kernel run in are among the \p used ones, whatever \p sizes are. Throws
/// InternalError that names a block that is not.
void verify_used_blocks(const GridKernel& kernel, const std::vector<std::string>& sizes,
                        const std::array<RunExtent, 3>& used);

}  // namespace tc::polyhedral
