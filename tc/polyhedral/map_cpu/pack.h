#pragma once

#include <cstdint>
#include <vector>

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/cluster_state.h"

namespace tc::polyhedral {

/// A loop above a packed copy: it counts blocks of `step` iterations of one iterator of the statement that reads the
/// copy.
struct FixedLoop {
  int iterator = -1;
  std::int64_t step = 1;
};

/// Copies what \p choice reads in one iteration of the loops \p fixed into a temporary, to be contracted to a dense
/// buffer at \p place, the node below these loops.
///
///   before  band [j/64] band [k/512]  band [i/8, j/16] { U: ... B[k, j] ... }
///   after   band [j/64] band [k/512] { pack_B[k, j]: packed_B[j/16, k, j%16] = B[k, j] }
///                                    { band [i/8, j/16] { U: ... packed_B[j/16, k, j%16] ... } }
///
/// The copy holds elements in the type they are computed with: halves are widened once. A loop that does not index the
/// tensor makes a copy for each of its iterations. Where the tensor lies across the panels, the copy moves square
/// blocks, a vector wide, which the generator transposes in registers. Each index of the read must be an iterator of
/// its own or digits of one (index_iterators), and nothing in the cluster may write the tensor. Of a guarded read, the
/// box around what it may touch is copied. \p cluster learns how the copy runs.
Scop pack(const Scop& scop, const std::vector<int>& place, const PackMapping& choice,
          const std::vector<FixedLoop>& fixed, ClusterState& cluster);

/// The iterators of \p statement that index its read number \p read, in the order of the tensor's dimensions; empty
/// when an index is neither an iterator nor a digit of one (collapse.h), or two elements of a copy would be the same,
/// where a guard never lets it read, and where the instances order two of these iterators: the copy would be no box.
std::vector<int> index_iterators(const Statement& statement, int read);

}  // namespace tc::polyhedral
