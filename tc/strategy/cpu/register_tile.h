#pragma once

#include <cstdint>
#include <vector>

#include "tc/base/target.h"

namespace tc::strategy {

/// What an operand of a reduction depends on.
struct Operand {
  std::vector<bool> members;  ///< for each outer member: does it change along it?
  bool vector = false;        ///< does it change along the lanes? It takes a vector load then, else a broadcast
  bool cut = false;           ///< is the last vector of all partial?
  bool across = false;        ///< is it contiguous along an outer member, so that its rows come from a copy?
  /// Rows of the tile read windows of `window` elements, `step` apart: with all iterations of the window unrolled, each
  /// element is loaded once.
  std::int64_t window = 1, step = 1;
};

/// Two outer members and the number of accumulators along each; a member is -1 where there is none.
struct RegisterTile {
  int rows = -1, columns = -1;
  std::int64_t row_count = 1, column_count = 1;
  double gain = 1;   ///< loads an operation without the tile, divided by those with it
  double score = 0;  ///< the share of the peak that the model expects
};

/// The tile that does most operations a load within the vector registers of \p target, fills its last tiles best, and
/// has enough independent accumulators to hide the latency of an operation. \p trips counts, for each outer member, the
/// vectors (for \p vector_member, the columns) or iterations it has; -1 as \p vector_member: lanes run along the
/// reduction. Where \p wanted is not empty the tile has these rows and columns, as far as the trips go.
RegisterTile choose_register_tile(const std::vector<Operand>& operands, const std::vector<std::int64_t>& trips,
                                  int vector_member, const Target& target,
                                  const std::vector<std::int64_t>& wanted = {});

/// Outer members that could be the rows of a tile almost as good as \p tile, which choose_register_tile() gives for the same: they
/// differ in what the score does not know, such as the lines that reads touch.
std::vector<int> rival_rows(const std::vector<Operand>& operands, const std::vector<std::int64_t>& trips,
                            int vector_member, const Target& target, const RegisterTile& tile);
/// The best tile whose rows are \p rows.
RegisterTile choose_register_tile_of(int rows, const std::vector<Operand>& operands,
                                     const std::vector<std::int64_t>& trips, int vector_member, const Target& target);

/// The best tile with the members of \p tile for \p operands, one of which has a window along its rows. A few
/// operations an element leave such a reduction to memory: rows of a tile, read and written, are no more than the
/// processor asks for ahead on its own, and each that ends within a row of the tensor reads a line for the next tile
/// too.
RegisterTile choose_window_tile(const std::vector<Operand>& operands, const std::vector<std::int64_t>& trips,
                                const RegisterTile& tile, const Target& target,
                                const std::vector<std::int64_t>& wanted = {});

}  // namespace tc::strategy
