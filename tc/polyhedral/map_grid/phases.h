#pragma once

#include <vector>

#include "tc/polyhedral/map_grid/map_to_grid.h"

/// Kernels as phases of one, which a grid runs one after the other. Its blocks are all there at once and wait for each
/// other where a phase needs what other blocks did in an earlier one.
namespace tc::polyhedral {

/// \p kernel for blocks of at least \p threads threads. Those beyond its own run no instances, but reach all barriers;
/// the numbers of the others stay, so that warps do.
///
///   before  context { 0 <= thread_x < 32, 0 <= thread_y < 4 }
///   after   context { 0 <= thread_x < 32, 0 <= thread_y < 8 }
GridKernel widen_block(const GridKernel& kernel, std::int64_t threads);

/// Behind which of the phases \p kernels all blocks wait for each other, where the threads of each block do anyway: as
/// few as separate any two phases of which different blocks touch what one of them writes. One entry a phase. Blocks
/// are told apart by their numbers, x fastest, as those of the kernel are.
std::vector<bool> grid_barriers(const std::vector<GridKernel>& kernels);

/// The law of phases: any two of which different blocks touch what one of them writes have an entry of \p barriers
/// between them. Throws InternalError that names two such blocks.
void verify_phases(const std::vector<GridKernel>& kernels, const std::vector<bool>& barriers);

}  // namespace tc::polyhedral
