#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tc/base/matrix_unit.h"
#include "tc/polyhedral/map/grid_mapping.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// The values of one iterator of a statement in a kernel: `tiles` times, one after the other, a block takes `tile` of them,
/// which go to `count` threads, floor(value / run) mod count being the thread's coordinate.
struct SpreadIterator {
  std::int64_t extent = 1;  ///< of all blocks
  std::int64_t tile = 1;    ///< at most `extent`
  double tiles = 1;         ///< of one block
  int grid = -1;            ///< dimension of the grid along which tiles are spread; -1: none
  int dimension = -1;       ///< of the block; -1: each thread takes all
  std::int64_t run = 1, count = 1;
  polyhedral::WarpDigit warps = {};  ///< of which the threads are; `count` are those of a warp then
  std::int64_t cut = 0;              ///< a reduction's values in one of its blocks; 0: it is not cut
  bool has_copies = false;           ///< a loop around several statements, for whose iterations copies are made

  /// The value that a thread at \p coordinate of \p along begins with, as far as that coordinate tells.
  std::int64_t first(int along, std::int64_t coordinate) const;
  /// Is it spread along \p along of the block?
  bool uses(int along) const { return dimension == along || warps.dimension == along; }
  /// Values of a tile that one thread takes, a whole run at least; a share where the last round is not full.
  double in_thread() const;
};

/// How the threads of a block run one statement.
struct ThreadSpread {
  std::vector<SpreadIterator> iterators;
  const MatrixUnit* unit = nullptr;  ///< that computes the statement; null: none
  int rows = -1, columns = -1;       ///< iterators of the unit
  int vector = -1;                   ///< the iterator whose runs are vectors; -1: none
  bool has_loops = true;             ///< of which processors count the iterations: none are unrolled

  /// Rounds of a thread over all its tiles: the values of the iterators that \p access uses, of all without it.
  double rounds(const PricedAccess* access = nullptr) const;
  /// Does an iterator of \p access run along \p dimension of the block?
  bool moves_along(const PricedAccess& access, int dimension) const;
  /// Is any iterator spread along \p dimension of the block?
  bool uses(int dimension) const;
};

/// What a kernel is launched with.
struct KernelShape {
  std::array<std::int64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};

  std::int64_t blocks() const { return grid[0] * grid[1] * grid[2]; }
  std::int64_t threads() const { return block[0] * block[1] * block[2]; }
  double warps(std::int64_t size) const { return static_cast<double>((threads() + size - 1) / size); }
  bool operator==(const KernelShape&) const = default;
};

/// The grid and the block of the kernel whose loops are \p nest.
KernelShape kernel_shape(const PricedCluster& cluster, const polyhedral::Nest& nest);

/// How statement number \p index of \p cluster runs in \p nest.
///
///   m/64 on grid.y   S1: k/16 with copies  k%16  m%64/4 on thread.y  m%4        m: tile 64, dimension 1, run 4; k: cut 16
ThreadSpread thread_spread(const PricedCluster& cluster, const polyhedral::Nest& nest, int index);

}  // namespace tc::strategy
