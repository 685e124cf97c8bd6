#pragma once

#include <array>
#include <vector>

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/spread/grid_cluster_state.h"
#include "tc/polyhedral/spread/grid_loops.h"

namespace tc::polyhedral {

/// An index of the loops of one statement: a member of the outer band, or one of its own loops in the schedule.
struct BranchIndex {
  OpenIndex index;
  isl::union_pw_aff member;  ///< of the schedule's band, which need not count from 0
  int iterator = -1;         ///< of the statement; -1: several, or none
  int band = -1;             ///< of its own bands, outermost first; -1: the loop stands around several statements
};

/// The loops around and of the statement that stands alone at \p node, whose own bands are the outermost ones there: what is left
/// of the loops around, \p points, then its own.
std::vector<BranchIndex> branch_indices(const isl::schedule_node& node, const Scop& scop, const GridClusterState& state,
                                        const std::vector<OpenIndex>& points);

/// A loop of one thread.
struct BranchLoop {
  GridLoop loop;
  NestPlace place = NestPlace::Serial;
  int lanes = 0;
  /// Loops of one group that follow each other are one band: what is left of loops around several statements, an own
  /// band of the statement (its number), or what a thread has of neighbouring values.
  enum Group { Points = -1, Runs = -2, Lanes = -3 };
  int group = Points;
  bool is_named = true;  ///< in the branch
};

/// How threads run a branch.
struct BranchLoops {
  std::vector<BranchLoop> loops;                       ///< of one thread, outermost first
  std::array<Nullable<isl::union_pw_aff>, 3> threads;  ///< coordinates of the thread of an instance; null: 0
};

/// The loops of \p branch over \p indices, in a block of \p block threads. Loops that stand above the statement are passed
/// over. With \p spread_only, so are loops over the statement's own indices that no threads run.
///
///   n%64/16, n%16/4 on thread.x, n%4      loops n%64/4 and n%4, threads x: floor(n/4) mod 4
BranchLoops branch_loops(const NestSpace& space, const NestBranch& branch, const std::vector<BranchIndex>& indices,
                         const std::array<std::int64_t, 3>& block, bool spread_only);

/// The loops of \p branch over \p index, which stands at \p position among its indices.
std::vector<NestLoop> loops_over(const NestSpace& space, const NestBranch& branch, const BranchIndex& index,
                                 std::size_t position);

}  // namespace tc::polyhedral
