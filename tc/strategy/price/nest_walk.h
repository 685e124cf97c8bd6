#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tc/polyhedral/nest/nest.h"
#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// A loop of a nest around a statement.
struct WalkedLoop {
  int iterator =
      -1;  ///< the iterator of the statement whose digit it is; -1: the statement does not depend on the index
  double trips =
      1;  ///< a partial tile counts as a fraction of a tile, in whole vectors: full tiles have code of their own
  double span = 1;  ///< values of the iterator in one execution of this loop
};

/// A copy of a nest, and the first loop below it.
struct WalkedCopy {
  const polyhedral::NestCopy* copy = nullptr;
  std::size_t place = 0;
};

/// The loops of a nest around one statement, outermost first. Those of the trunk have the same numbers for all statements
/// of a cluster.
///
///   n/240   m/8   n%240/48   k   m%8 unrolled   n%48/16 unrolled   n%16 lanes
///   trunk                  tile  points
struct StatementWalk {
  std::vector<WalkedLoop> loops;
  std::size_t tile = 0;    ///< the first loop below the trunk
  std::size_t points = 0;  ///< the first loop over points; the loop along lanes counts vectors
  bool unrolled = false;   ///< the points are
  int lane_iterator = -1;
  int lanes = 1;
  const polyhedral::NestLoop* unit = nullptr;    ///< whose iterations one instruction sums; null: none
  const polyhedral::NestLoop* window = nullptr;  ///< that slides along `window_row`; null: none
  int unit_iterator = -1, window_iterator = -1, window_row = -1;
  double window_width = 1;         ///< iterations of the window
  bool with_private_sums = false;  ///< blocks of its reduction accumulate privately
  std::vector<WalkedCopy> copies;  ///< for each read; without a copy: none

  /// The product of the trip counts of the loops above number \p end.
  double trips_above(std::size_t end) const;
  /// Values of each iterator of \p statement in one execution of the loops from number \p first on.
  std::vector<double> spans(const PricedStatement& statement, std::size_t first) const;
  /// The copy that read number \p read goes to; null without one.
  const polyhedral::NestCopy* copy_of(int read) const { return copies[static_cast<std::size_t>(read)].copy; }
  /// Does one instruction multiply matrices?
  bool multiplies_matrices() const { return unit && unit->steps > 1; }
};

/// What prices read of a nest: trips and spans of all loops, and where copies stand. Refers to the nest.
struct NestWalk {
  std::vector<StatementWalk> statements;
  std::vector<const polyhedral::NestCopy*> copies;  ///< in their order
  std::vector<bool> kept;                           ///< for each tensor: a buffer holds it while inner loops run
  int member_on_cores = -1;                         ///< the member whose outermost loop runs on cores; -1: none does
  double tasks = 1;                                 ///< iterations of that loop; a last one may be partial

  /// Does \p access of \p statement move along the loop on cores? Without such a loop, yes.
  bool changes_on_cores(const PricedStatement& statement, const PricedAccess& access) const {
    return member_on_cores < 0 || access.changes(statement.entry.outer[static_cast<std::size_t>(member_on_cores)]);
  }
};

/// Walks \p nest of \p cluster from the outermost loop on.
NestWalk walk(const PricedCluster& cluster, const polyhedral::Nest& nest);

/// Elements with at most this stride are picked from contiguous vectors.
constexpr std::int64_t few_apart = 4;

/// The squares of an access with strided vectors: the points of a register tile along the iterator in which it is
/// contiguous are the rows of squares that are transposed in registers.
struct Squares {
  double side = 0;  ///< a power of two; 0: there are none
  double whole =
      1;  ///< the share of the points in whole squares; at the ends of both ranges, elements are accessed alone
};
Squares squares_of(const StatementWalk& walk, const PricedStatement& statement, const PricedAccess& access);

/// Does read number \p read of \p statement access the element of an earlier read, neither of them from a copy?
bool repeats(const StatementWalk& walk, const PricedStatement& statement, int read);

}  // namespace tc::strategy
