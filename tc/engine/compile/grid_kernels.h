#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tc/engine/compile/pipeline.h"

/// The kernels of a launch for a grid of threads.
namespace tc::engine {

using Kernels = std::vector<polyhedral::GridKernel>;

/// The kernels of \p launch, mapped, in order.
Kernels kernels_of(const LaunchState& launch);
/// Threads of the largest block, and blocks of the largest grid.
std::pair<std::int64_t, std::int64_t> largest(const Kernels& kernels);

/// The kernel of \p part by the nest of \p nests; where the quota runs out, one by the plain nest, else one of one thread. The
/// nest becomes the one it has.
polyhedral::GridKernel map_part(CompileState& state, const LaunchState& launch, const polyhedral::Scop& part,
                                GridNests& nests);

/// The nest of a kernel of one thread.
polyhedral::Nest nest_of_one_thread(const polyhedral::NestSpace& space);

/// Makes the kernels of \p launch phases of one: with as many blocks as there is room for at once,
/// and equally many threads. They stay several, as they are, where their blocks need more threads with fewer blocks in
/// the grid, or the quota runs out.
void join_phases(CompileState& state, LaunchState& launch);

/// The laws of \p kernel, which \p part is, unless they held for a copy of it.
void verify_whole(const KernelState& part, const polyhedral::GridKernel& kernel);

/// The laws of the kernels of \p launch and of their phases. Those whose mapping was given, not chosen, break them by an
/// OptionsError.
void verify_kernels(const CompileState& state, const LaunchState& launch);

}  // namespace tc::engine
