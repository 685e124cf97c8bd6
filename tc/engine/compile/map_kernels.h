#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tc/engine/compile/back_end.h"

namespace tc::engine {

/// The stages that map the clusters of a launch to kernels of a grid: gather_coincident, choose, nest, split_kernels, the passes
/// of polyhedral::grid_passes(), map, which makes kernels phases of one where the options ask for it.
///
/// Each kernel has a quota of its own for the passes. Where it runs out, the kernel is mapped anew with neither buffers
/// nor register tiles, and where that takes too long too, to one thread.
std::vector<LaunchStage> kernel_stages();

/// \p print of each kernel of \p launch, below a line that names it.
std::string print_kernels(const LaunchState& launch, const std::function<std::string(const KernelState&)>& print);

}  // namespace tc::engine
