#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/spread/grid_cluster_state.h"
#include "tc/polyhedral/spread/thread_map.h"

namespace tc::polyhedral {

/// What a block may keep of promoted tensors.
struct BlockMemory {
  std::int64_t shared_bytes = 0;       ///< in memory that its threads share
  std::int64_t thread_elements = 128;  ///< in the registers of one thread, of one tensor
};

/// The digits of one index that threads run: index p is in the thread floor(p / lane.step) mod lane.count along
/// lane.dimension, and in the warp floor(p / warp.step) mod warp.count along warp.dimension, which counts above the lanes
/// where that is the same.
struct WarpDigits {
  struct Digit {
    int dimension = 0;
    std::int64_t step = 1, count = 1;
  } lane, warp;
};

/// The threads of a block, and which of them run what.
struct BlockThreads {
  Coordinates where;
  std::array<std::int64_t, 3> block = {1, 1, 1};
  std::vector<WarpDigits> digits = {};  ///< of members that are spread over warps too
};

/// Replaces the temporaries \p names, which only the statements below the node at \p inside touch, by buffers of the
/// size of their footprint there: in registers, where each element belongs to one thread, else in shared memory. One
/// that does not fit \p memory stays; what shared buffers take is subtracted from it.
///
///   before  { thread filter j = thread_x: t[i, j] = ... } { thread filter j = thread_x: ... t[i, j] }
///   after   allocate_local_t { thread filter j = thread_x: local_t[0] = ... } { thread filter j = thread_x: ... local_t[0] }
///
/// A dimension of a buffer in registers whose index is spread over threads, run r of n threads, holds what one thread
/// has: index p is at floor(p / (r n)) r + p mod r; without the digit of the warps where loops have one.
Scop promote_in_block(const Scop& scop, const std::vector<int>& inside, const std::vector<std::string>& names,
                      const BlockThreads& threads, BlockMemory& memory);

/// The same for a buffer where \p choice says, contiguous along the dimension it names.
Scop promote_in_block(const Scop& scop, const GridBuffer& choice, const BlockThreads& threads, BlockMemory& memory);

}  // namespace tc::polyhedral
