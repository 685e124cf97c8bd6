#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/core/surround.h"
#include "tc/polyhedral/spread/grid_cluster_state.h"

namespace tc::polyhedral {

/// A loop around the place of a copy: tiles of `step` iterations of one iterator of the reader.
struct CopyTile {
  int iterator = -1;
  std::int64_t step = 1;
};

/// The copy of one read of the statement \p reader of \p scop, as \p choice says, for each tile of the loops \p fixed around it; the
/// loops over the iterators \p outer of the reader run it too, the others are its own. One for each of several \p blocks runs ahead.
///
///   reader U[m, n, k] of A[m, k], blocks of 16 k      copy_A[m, k, b]: block_A[m, k, b] = A[m, k]      U reads block_A
///
/// Its iterators: for each dimension of the tensor the iterator of the reader that indexes it, or the distance from the tile's first
/// element; then the numbers of tiles. A copy by registers that runs ahead has two statements: the elements wait in a temporary
/// between them. \p scop gets the temporaries, and the reader reads the copy; \p state learns how the statements run, their buffers,
/// which of them run ahead and what these hold in registers.
std::vector<Addition> copy_of_read(Scop& scop, const std::string& reader, const NestSharedCopy& choice,
                                   const std::vector<CopyTile>& fixed, const CopyBlocks& blocks,
                                   const std::vector<int>& outer, GridClusterState& state);

}  // namespace tc::polyhedral
