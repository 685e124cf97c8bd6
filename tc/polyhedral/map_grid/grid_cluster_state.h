#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tc/polyhedral/map_grid/grid_mapping.h"

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
  int blocks = 0;
};

/// A temporary that each thread keeps in registers, one element for each instance of `statement` that it runs.
struct GridHeld {
  std::string tensor, statement;
};

/// A cluster whose mapping is being carried out: what was decided, which no pass changes, and what passes leave for those
/// behind them.
struct GridClusterState {
  GridClusterState() = default;
  GridClusterState(const GridClusterMapping& decision, std::int64_t warp)
      : mapping(decision), warp_size(warp), promoted(decision.promoted), block(decision.block) {}

  GridClusterMapping mapping;
  std::int64_t warp_size = 1;         ///< threads of a warp of the machine
  std::vector<GridStatement> added;   ///< how the statements run that passes added
  std::vector<std::string> promoted;  ///< temporaries to keep in registers or in shared memory, where they fit
  std::array<std::int64_t, 3> block = {1, 1, 1};  ///< threads at most; grid_tree: as many as are used
  std::vector<GridBuffer> buffers;                ///< of copies
  std::vector<GridAhead> ahead;                   ///< copies that are not made right before their block
  std::vector<GridHeld> held;                     ///< what such copies have in registers

  /// How statement \p id runs.
  GridStatement statement(const std::string& id) const;
  /// How \p iterator of statement \p id is spread.
  ThreadLoop threads(const std::string& id, int iterator) const;
};

}  // namespace tc::polyhedral
