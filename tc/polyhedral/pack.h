#pragma once

#include <cstdint>
#include <vector>

#include "tc/polyhedral/mapping.h"
#include "tc/polyhedral/scop.h"

namespace tc::polyhedral {

/// Copies what one iteration of the outermost loop reads by \p choice into a temporary, to be contracted to a dense buffer
/// at \p place, the node below that loop.
///
///   before  band [j/64]  band [i/4] { U: ... B[k, j] ... }
///   after   band [j/64] { pack_B[k, j]: packed_B[k, j] = B[k, j] } { band [i/4] { U: ... packed_B[k, j] ... } }
///
/// \p member is the iterator of the statement that the outermost loop counts in steps of \p step. Each index of the read must
/// be an iterator of its own (index_iterators), and nothing in the cluster may write the tensor. Adds the mapping of the
/// copy to \p cluster.
Scop pack(const Scop& scop, const std::vector<int>& place, const PackMapping& choice, int member, std::int64_t step,
          ClusterMapping& cluster);

/// The iterators of \p statement that index its read number \p read, in the order of the tensor's dimensions; empty when an
/// index is no iterator, or the same one twice.
std::vector<int> index_iterators(const Statement& statement, int read);

}  // namespace tc::polyhedral
