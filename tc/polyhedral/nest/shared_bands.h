#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// A band below a cluster's outer band that contains several statements.
struct SharedBand {
  struct Member {
    bool coincident = false;
    std::int64_t extent = 1;     ///< of all statements
    std::vector<int> iterators;  ///< of each statement; -1: a constant or several

    /// The iterator of statement \p id of \p band.
    int iterator_of(const SharedBand& band, const std::string& id) const;
  };
  std::vector<std::string> statements;
  std::vector<Member> members;
  bool permutable = false;
};

/// The shared bands of \p cluster, outer bands before inner ones.
///
///   band [i] { band [j] { S0 } { S1: band [k] } } { S2: band [j] }      band [j] of S0 and S1
std::vector<SharedBand> shared_bands(const Scop& scop, const ClusterView& cluster);

}  // namespace tc::polyhedral
