#pragma once

#include <string>

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/spread/grid_tree.h"

namespace tc::polyhedral {

/// Replaces the temporary \p name by a buffer in registers. Every statement that touches it does so in its i-th
/// instance as the others do in theirs, an element in one thread; \p tree says which instance of a thread is the i-th
/// (GridTree::own).
///
///   before  load_A[m, k]: held_A[m, k] = A[m, k]                copy_A[m, k]: block_A[m, k] = held_A[m, k]
///   after   load_A[m, k]: local_held_A[k/2, m%4] = A[m, k]      copy_A[m, k]: block_A[m, k] = local_held_A[k/2, m%4]
///
/// The allocate mark stands at the node \p inside.
Scop hold_in_registers(const Scop& scop, const std::string& name, const GridTree& tree, const std::vector<int>& inside);

}  // namespace tc::polyhedral
