#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_space.h"

namespace tc::polyhedral {

/// A buffer for a temporary, live where all of `statements` stand together.
struct GridBuffer {
  std::string tensor;
  std::vector<std::string> statements;
  int contiguous = -1;  ///< the dimension of the tensor that is; -1: the last
  int along =
      -1;  ///< a dimension of which there are `slots` blocks of `size` at once, block b in slot b mod slots; -1: none
  std::int64_t size = 0, slots = 1;
};

/// A copy that is made `blocks` blocks before the threads compute with it.
struct GridAhead {
  std::string statement;
  std::string reader;  ///< the statement whose reads are copied
  int blocks = 0;
};

/// A temporary that each thread keeps in registers, one element for each instance of `statement` that it runs.
struct GridHeld {
  std::string tensor, statement;
};

/// The loop over blocks of a reduction for each of which copies are made.
struct CopyBlocks {
  std::string statement;
  int iterator = -1;  ///< position in the statement's domain; -1: there is none
  std::int64_t size = 0;
  int slots = 1;  ///< blocks in memory at once
};

/// A cluster whose nest is being realised as a kernel: the nest, which no pass changes, and the results of passes that
/// later ones read.
struct GridClusterState {
  GridClusterState() = default;
  /// \p nest is of a kernel, and its space \p space (kernel_nest_space); \p warp threads of the machine are a warp.
  GridClusterState(NestSpace space, Nest nest, std::int64_t warp);

  NestSpace space;
  Nest nest;
  std::int64_t warp_size = 1;
  /// Of statements that passes added: how their own iterators run. `number` of an index is the iterator.
  std::vector<NestBranch> added;
  std::vector<std::string> promoted;  ///< temporaries to keep in registers or in shared memory, where they fit
  std::vector<GridBuffer> buffers;    ///< of copies
  std::vector<GridAhead> ahead;       ///< copies that are not made right before their block
  std::vector<GridHeld> held;         ///< what such copies have in registers

  /// Threads along each dimension.
  const std::array<std::int64_t, 3>& block() const { return nest.launch->block; }
  /// The blocks for which reads of the statement \p reader are copied.
  CopyBlocks blocks(const std::string& reader) const;
  /// The position of statement \p id in the nest; -1 of one that a pass added.
  int position(const std::string& id) const { return space.position(id); }
  /// The loops of statement \p id, whose own loops run over \p iterators: its branch, or of one that a pass added
  /// (added_branch.h).
  NestBranch branch(const std::string& id, const std::vector<int>& iterators) const;
};

}  // namespace tc::polyhedral
