#pragma once

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/spread/grid_cluster_state.h"

namespace tc::polyhedral {

/// Copies what the trunk of the nest says into temporaries, which the threads of a block fill together before they read
/// them; cuts the reduction that has the loop with copies into blocks first, one copy for each.
///
///   before  band [m, n] { U: band [k]  ... A[m, k] ... }
///   after   band [m, n] { U: band [k/16] { copy_A[m, k, b]: block_A[m, k, b] = A[m, k] } { U: band [k%16]  ... block_A[m, k, n/128] ... } }
///
/// Where a window slides along a dimension of the tensor, the copy has the box around what a tile reads, and counts
/// from its corner:
///
///   band [h, w] { U: band [kh, kw]  ... I[h + kh, w + kw] ... }   tiles of 4 x 64, 3 x 3 kernel: copies of 6 x 66 elements
///
/// Where the loop with copies is one that several statements share, in order, the copies of all its readers are made at its begin, and
/// what is the same in all its iterations before it:
///
///   before  for b { S1: Q[n, k] K[b, w, k] }   after  copy_Q  for b { copy_K } { S1: block_Q[n, k] block_K[w, k, b] }
///
/// With several slots, copies run ahead (run_ahead); one by registers is a load before the reader and a copy behind it.
/// What is read through index tensors is copied for the iterators that decide on it, U[m, n] reading T[I[m], k] as
/// block_T[m, k].
///
/// The last dimensions of a copy count the tiles of members that do not index the tensor: each tile has a copy of its
/// own. \p state learns how the copies run, their buffers, which of them run ahead and what these hold in registers.
Scop copy_reads(const Scop& scop, GridClusterState& state);

}  // namespace tc::polyhedral
