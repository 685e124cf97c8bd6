#pragma once

#include <map>
#include <string>

#include "tc/base/shared_banks.h"
#include "tc/base/target.h"
#include "tc/polyhedral/map_grid/map_to_grid.h"

namespace Halide::Internal {
struct Stmt;
}

namespace tc::engine {

/// Layouts of the buffers that the threads of a block share.
struct SharedLayouts {
  bool padded = false;  ///< strides in the kernel's scop have changed: its loop nest has to be made again
  std::map<std::string, Swizzle> swizzles;  ///< to be applied to the loop nest
};

/// Chooses the layouts that units of groups of warps ask for, else those with the fewest bank conflicts, as counted for some warps of \p body, the loop nest of \p
/// kernel.
SharedLayouts choose_shared_layouts(polyhedral::GridKernel& kernel, const Halide::Internal::Stmt& body,
                                    const GridLimits& limits);

}  // namespace tc::engine
