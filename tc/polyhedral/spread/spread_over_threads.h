#pragma once

#include <string>
#include <vector>

#include "tc/polyhedral/spread/spread_statement.h"

namespace tc::polyhedral {

/// A tree whose loops are spread over the threads of a block, and how each statement runs.
struct ThreadTree {
  isl::schedule_node node;
  std::vector<StatementThreads> statements;
};

/// The loops over \p member, of a band around the statements \p ids, that all their branches have alike, down to the one on threads;
/// nothing where they differ.
std::vector<NestLoop> loops_to_shared_threads(const Scop& scop, const GridClusterState& state,
                                              const isl::union_pw_aff& member, const std::vector<std::string>& ids);

/// Spreads the loops below \p node, and \p points, what is left of those above it, over threads as the nest of \p state says;
/// the serial loops of the statements \p together are run by all threads in step. Loops around several statements stay;
/// of one that all their branches give to threads alike, the digits above the threads stay:
///
///   before  band [j] { S0 } { S1 }       both branches have j/256, j%256 on thread.x
///   after   band [j/256] { thread  filter { j mod 256 = thread_x }  S0 } { thread  filter { the same }  S1 }
ThreadTree spread_over_threads(const isl::schedule_node& node, const std::vector<OpenIndex>& points, const Scop& scop,
                               const GridClusterState& state, const std::vector<std::string>& together);

}  // namespace tc::polyhedral
