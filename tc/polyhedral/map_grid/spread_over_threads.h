#pragma once

#include <string>
#include <vector>

#include "tc/polyhedral/map_grid/spread_statement.h"

namespace tc::polyhedral {

/// A tree whose loops are spread over the threads of a block, and how each statement runs.
struct ThreadTree {
  isl::schedule_node node;
  std::vector<StatementThreads> statements;
};

/// Spreads the loops below \p node, and \p points of those above it, over threads as \p state says; the serial loops of
/// the statements \p together are run by all threads in step. Loops around several statements stay; one that all of
/// them spread alike stays as its rounds, of as many iterations as there are threads, and its points stand at the
/// statements:
///
///   before  band [j] { S0 } { S1 }       j of 1024, 256 threads
///   after   band [j/256] { thread  filter { j mod 256 = thread_x }  S0 } { thread  filter { the same }  S1 }
ThreadTree spread_over_threads(const isl::schedule_node& node, const GridLoops& points, const Scop& scop,
                               const GridClusterState& state, const std::vector<std::string>& together);

}  // namespace tc::polyhedral
