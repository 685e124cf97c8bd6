#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tc/polyhedral/map/cluster_state.h"
#include "tc/polyhedral/map/subtree.h"

namespace tc::polyhedral {

/// The footprint of a tensor in one execution of a node: in the box `offset` + [0, `extent`).
struct FootprintBox {
  isl::map elements;  ///< [prefix] -> T[x]
  isl::multi_aff offset;
  std::vector<std::int64_t> extent;
  std::map<AccessPlace, isl::pw_multi_aff> places;  ///< S[i] -> T[x - offset], for every access
};

/// The footprint of \p tensor below \p subtree, with room for the lanes of vector loads that \p cluster makes, whether a
/// guard lets them read or not; nothing where it has none, no box, or where an element is touched in several executions
/// of the node.
///
///   band [i]  band [j] { S: t[i, j] }, 8 values of j      offset t[i, 0], extent 1 x 8, places S[i, j] -> t[0, j]
std::optional<FootprintBox> footprint_box(const Scop& scop, const Subtree& subtree, const ClusterState& cluster,
                                          const std::string& tensor);

}  // namespace tc::polyhedral
