#pragma once

#include <cstdint>
#include <functional>

#include "tc/polyhedral/nest/nest.h"
#include "tc/strategy/construct/construct.h"
#include "tc/strategy/construct/kernel_moves.h"

namespace tc::strategy {

/// Of a walk among kernels.
struct KernelWalk {
  ConstructionPolicy policy = ConstructionPolicy::Gensor;
  /// May a thread have values of an index in more rounds than the nests it begins at, a stride apart? Virtual threads in the words of Gensor.
  bool virtual_threads = true;
  std::uint64_t seed = 1;
};

/// What a walk among kernels found, and how.
struct WalkedKernel {
  PricedKernel kernel;
  std::vector<polyhedral::Nest> path;  ///< from a start on, one move after the other, to the kernel
  std::size_t priced = 0;              ///< kernels that were priced
};

/// The cheapest nest of a kernel that a walk by moves (kernels_beside) from \p starts, which are allowed, meets, of those that \p
/// is_allowed:
///
///   BestFirst   descents, then the moves of the cheapest nest whose moves were not tried, until several bring nothing
///   Roller      the first move that is cheaper and makes no tile, run, step or number of threads smaller
///   Gensor      chains of moves drawn by the ratio of prices, increasingly greedy, half of them without new virtual threads; a
///               descent from the end of each, and from the best
///   others      a descent
///
/// It costs no more than the starts, of which there is one. Threads have no more registers than there are, and no more code between
/// barriers than a start, or than NVRTC compiles in half a second. Deterministic; nothing is compiled or measured.
WalkedKernel walk_kernels(const PricedCluster& cluster, const std::vector<polyhedral::Nest>& starts,
                          const KernelWalk& walk, const std::function<bool(const polyhedral::Nest&)>& is_allowed);

}  // namespace tc::strategy
