#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tc/polyhedral/map/cluster_state.h"
#include "tc/polyhedral/map/subtree.h"

namespace tc::polyhedral {

/// The footprint of a tensor in one execution of a node, in a box at `offset`: element x is kept at (x - offset) mod `extent`, where
/// elements that are needed one after another may share a place.
struct FootprintBox {
  isl::map elements;  ///< [prefix] -> T[x]
  isl::multi_aff offset;
  std::vector<std::int64_t> extent;
  std::vector<std::int64_t> touched = {};                ///< elements along each dimension: at least as many as places
  std::map<AccessPlace, isl::pw_multi_aff> places = {};  ///< S[i] -> T[(x - offset) mod extent], for every access

  /// Are there fewer places than elements along some dimension (buffer_slots.h)?
  bool is_circular() const { return extent != touched; }
  /// Do iterations use several places in turn?
  bool takes_turns() const {
    for (std::size_t d = 0; d < extent.size(); ++d)
      if (extent[d] > 1 && extent[d] < touched[d]) return true;
    return false;
  }
};

/// The footprint of \p tensor below \p subtree, with room for the lanes of vector loads that \p cluster makes, whether a
/// guard lets them read or not; nothing where it has none, no box, or where an element is touched in several executions
/// of the node.
///
///   band [i]  band [j] { S: t[i, j] }, 8 values of j      offset t[i, 0], extent 1 x 8, places S[i, j] -> t[0, j]
///   ordered loop [t] { S: h[t] = h[t - 1] }                offset h[0], extent 2, places S[t] -> h[t mod 2], h[(t - 1) mod 2]
std::optional<FootprintBox> footprint_box(const Scop& scop, const Subtree& subtree, const ClusterState& cluster,
                                          const std::string& tensor);

}  // namespace tc::polyhedral
