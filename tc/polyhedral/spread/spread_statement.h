#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tc/base/matrix_unit.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/nest/kernel_nest.h"
#include "tc/polyhedral/spread/grid_cluster_state.h"
#include "tc/polyhedral/spread/grid_loops.h"

namespace tc::polyhedral {

/// What tells the instances of a statement apart that one thread runs: a number below `extent`.
struct OwnLoop {
  isl::union_pw_aff index;
  std::int64_t extent = 1;
};

/// A band of the loops of one thread.
struct ThreadBand {
  GridLoops loops;
  bool permutable = true;
  std::vector<std::string> marks = {};  ///< above it, the innermost first
};

/// How the threads of a block run one statement.
struct StatementThreads {
  std::string id;
  isl::union_set filter;                               ///< the instances of the thread that parameters name
  std::array<Nullable<isl::union_pw_aff>, 3> threads;  ///< its coordinates, where the block has several; null: 0
  std::vector<GridLoops> above = {};                   ///< bands that all threads run together, outermost first
  std::vector<ThreadBand> own = {};                    ///< of each thread, outermost first
  int lanes = 0;                                       ///< of the vectors that the innermost band is; 0: it is none
  const MatrixUnit* unit = nullptr;                    ///< that computes it; null: none
  UnitIterators unit_iterators = {};
  std::optional<std::vector<OwnLoop>> numbers = {};  ///< of instances in a thread, where all threads run it by number
};

/// How the statement that stands alone at \p node runs, below the loops around it, which leave \p points: as its branch of
/// the nest of \p state says, its threads in step if \p together.
///
///   S: i%8 on thread.y  j%32 on thread.x  k      thread  filter { i mod 8 = thread_y, j mod 32 = thread_x }  band [i%8, j%32]  band [k]
///   the same, together                           band [k]  thread  filter { the same }  band [i%8, j%32]
///   with a unit                                  thread  filter { ... }  band [k/16]  unit  band [i/16, j/8]  band [i%16/8, j%2, k%16]
///   copy: k, m on all threads                    thread  filter { (128 k + m) mod 256 = thread_x }  band [(128 k + m)/256]  band [k, m]
///
/// Loops over one digit on threads have one iteration in each; where a serial loop right above is over the digit above, both are
/// one loop, in steps of the threads. Loops of the schedule that the branch does not name stay behind the loops that the
/// schedule has above them. What does not use a dimension of the block runs in its thread 0.
StatementThreads spread_statement(const isl::schedule_node& node, const Scop& scop, const GridClusterState& state,
                                  const std::vector<OpenIndex>& points, bool together);

/// The tree of \p spread at \p node, in place of the statement's own loops.
isl::schedule_node insert_threads(isl::schedule_node node, const StatementThreads& spread);

}  // namespace tc::polyhedral
