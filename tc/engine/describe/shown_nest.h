#pragma once

#include <vector>

#include "tc/engine/compile/pipeline.h"
#include "tc/engine/describe/sections.h"

namespace tc::engine {

/// The nests of the clusters of \p launch, with the iterations of each loop; behind the stage `choose`, before its scop is mapped.
/// Nothing where nothing was mapped.
std::vector<ShownNest> shown_nests(const LaunchState& launch);

}  // namespace tc::engine
