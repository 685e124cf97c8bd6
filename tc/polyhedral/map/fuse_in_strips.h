#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tc/polyhedral/core/dependences.h"
#include "tc/polyhedral/schedule/gather_coincident.h"

namespace tc::polyhedral {

/// Neighbouring clusters that run together, strip by strip: a strip is `size` iterations of one loop that all of them have, in one
/// iteration of each other loop that they share. The results of one cluster for a strip are in the cache when the next cluster reads them.
struct Strips {
  std::size_t first = 0;  ///< number of the first cluster, of ClusteredScop::clusters
  std::vector<std::vector<int>>
      loops;    ///< of each cluster, the members of its outer band that are shared, outermost first
  int cut = 0;  ///< position in `loops` of the one that is cut into strips
  std::int64_t size = 1;

  bool operator==(const Strips&) const = default;
};

/// Can \p strips be carried out in \p scop, whose dependences are \p dependences? Each shared member is one iterator, as it is, of every
/// statement, with one range in all clusters, and each dependence among them stays in one iteration of all shared loops. Accesses
/// through index tensors, ordered loops and symbolic sizes have no strips.
bool can_fuse_in_strips(const ClusteredScop& scop, const Dependences& dependences, const Strips& strips);

/// \p scop with each of \p strips, which name different clusters in order, in a loop of their own whose outermost member runs on threads.
/// Below it, each cluster keeps the members of its band that are not shared, and the one that is cut:
///
///   before  band [h, i, j] { S: s[h, i, j] += ... }    band [h, i, c] { T: O[h, i, c] += s[h, i, j] * V[h, j, c] }     0 <= i < 256
///   after   parallel  band [h]  band [p] { band [i, j] { S: s[h, 64p + i, j] += ... } }
///                                        { band [i, c] { T: O[h, 64p + i, c] += s[h, 64p + i, j] * ... } }             0 <= i < 64
///
/// The clusters inside are mapped each by itself (cluster_views); contract_strips then gives the temporaries of a strip a buffer. If the
/// last strip is a shorter one, and another loop runs on threads, full strips have code of their own.
Scop fuse_in_strips(const ClusteredScop& scop, const std::vector<Strips>& strips);

}  // namespace tc::polyhedral
