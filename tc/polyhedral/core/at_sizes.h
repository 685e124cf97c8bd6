#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// A cluster in runs with given values of symbolic sizes, to be looked at, not mapped: its schedule is that of all runs.
struct ClusterAtSizes {
  Scop scop;
  ClusterView cluster;
};

/// \p cluster of \p scop, which is not in strips, where symbolic sizes have \p values.
///
///   before  members [0, 63], domain { S[b, n] : b < size_B and n < 512 and size_B <= 64 }        values: B is 16
///   after   members [0, 15], domain { S[b, n] : b < size_B and n < 512 and size_B = 16 }
ClusterAtSizes at_sizes(const Scop& scop, const ClusterView& cluster,
                        const std::map<std::string, std::int64_t>& values);

}  // namespace tc::polyhedral
