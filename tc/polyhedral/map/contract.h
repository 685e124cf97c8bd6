#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/cluster_state.h"

namespace tc::polyhedral {

/// Replaces temporaries by small local buffers: a Workspace tensor that only the statements below the node at \p inside
/// touch, each element in one execution of this node, is accessed in a buffer of the size of its footprint there.
///
///   before  parallel  band [i]  band [j] { S: t[i, j] = ... } { T: ... t[i, j] }
///   after   parallel  band [i]  allocate_local_t  band [j] { S: local_t[0, 0] = ... } { T: ... local_t[0, 0] }
///
/// The allocate marks stand at \p place, at or above \p inside: outside the loops that isl may cut into several, inside
/// those that run in parallel.
///
///   before  ordered loop [t] { S: h[t] = ... h[t - 1] }
///   after   allocate_local_h  ordered loop [t] { S: local_h[t mod 2] = ... local_h[(t - 1) mod 2] }
///
/// Along ordered loops a buffer has as many slots as elements are needed at one time (buffer_slots.h). Tensors of lanes, those in \p always
/// and those with fewer slots than elements are contracted whatever their footprint, others up to \p bytes in all.
/// Relations keep naming the tensor, functions name the buffer. \p cluster says which accesses become vectors, which
/// decides whether the buffer can be padded for them.
Scop contract(const Scop& scop, const std::vector<int>& inside, const std::vector<int>& place,
              const ClusterState& cluster, const std::vector<std::string>& always, std::int64_t bytes);

/// A scop with one temporary in a buffer.
struct Contracted {
  Scop scop;  ///< the buffer is its last tensor
  bool takes_turns =
      false;  ///< iterations of an ordered loop use several slots in turn, so indices of the buffer are no constants
};

/// The same for \p tensor alone, whatever its footprint; nothing where it is no such temporary.
std::optional<Contracted> contract_one(const Scop& scop, const std::vector<int>& inside, const std::string& tensor);

}  // namespace tc::polyhedral
