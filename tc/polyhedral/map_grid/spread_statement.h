#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tc/base/matrix_unit.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map_grid/grid_cluster_state.h"
#include "tc/polyhedral/map_grid/grid_loops.h"

namespace tc::polyhedral {

/// What tells the instances of a statement apart that one thread runs: a number below `extent`.
struct OwnLoop {
  isl::union_pw_aff index;
  std::int64_t extent = 1;
};

/// How the threads of a block run one statement.
struct StatementThreads {
  std::string id;
  isl::union_set filter;                               ///< the instances of the thread that parameters name
  std::array<Nullable<isl::union_pw_aff>, 3> threads;  ///< its coordinates, where the block has several; null: 0
  std::array<std::int64_t, 3> used = {1, 1, 1};        ///< threads that it needs
  std::vector<GridLoops> above = {};                   ///< bands that all threads run together, outermost first
  ThreadBands own = {};                                ///< loops of each thread
  std::optional<std::vector<OwnLoop>> numbers = {};    ///< of instances in a thread, where all threads run it by number
};

/// How the statement that stands alone at \p node runs, below \p points of the loops around it: as \p state says, its
/// threads in step if \p together.
///
///   points [i%8, j%32]      ahead     thread  filter { i mod 8 = thread_y, j mod 32 = thread_x }  band [i%8, j%32]  band [k]
///   { S: band [k] }         together  band [k]  thread  filter { the same }  band [i%8, j%32]
///                           unit      thread  filter { ... }  band [k/16]  unit  band [i/16, j/8]  band [i%16/8, j%2, k%16]
///   { copy: band [k, m] }   numbered  thread  filter { (128 k + m) mod 256 = thread_x }  band [(128 k + m)/256]  band [k, m]
///
/// What does not use a dimension of the block runs in its thread 0. A copy's loops, in the order of its mapping, count as
/// one (GridStatement::together).
StatementThreads spread_statement(const isl::schedule_node& node, const Scop& scop, const GridClusterState& state,
                                  const GridLoops& points, bool together);

/// The tree of \p spread at \p node, in place of the statement's own loops, with the marks that \p choice asks for.
isl::schedule_node insert_threads(isl::schedule_node node, const StatementThreads& spread, const GridStatement& choice);

/// The unit that computes the statement of \p choice, null where none does.
const MatrixUnit* unit_of(const Scop& scop, const GridStatement& choice);

/// The lanes of the vectors of \p spread; 0 where \p state wants none.
int vector_lanes(const StatementThreads& spread, const GridClusterState& state);

}  // namespace tc::polyhedral
