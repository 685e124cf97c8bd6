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
  /// May a thread have values of an index in more rounds than the first nest, a stride apart? Virtual threads in the words of Gensor.
  bool virtual_threads = true;
  std::uint64_t seed = 1;
};

/// The cheapest nest of a kernel that a walk by moves (kernels_beside) from \p start meets, of those that \p is_allowed:
///
///   BestFirst   a descent, then the moves of the cheapest nest whose moves were not tried, until several bring nothing
///   Roller      the first move that is cheaper and makes no tile, run, step or number of threads smaller
///   Gensor      chains of moves drawn by the ratio of prices, increasingly greedy; a descent from the end of each, and from the best
///   others      a descent
///
/// It costs no more than \p start. Threads have no more registers than there are, and no more code between barriers than \p start, or
/// than NVRTC compiles in half a second. Deterministic; nothing is compiled or measured.
PricedKernel walk_kernels(const PricedCluster& cluster, const polyhedral::Nest& start, const KernelWalk& walk,
                          const std::function<bool(const polyhedral::Nest&)>& is_allowed);

}  // namespace tc::strategy
