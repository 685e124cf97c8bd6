#pragma once

#include <vector>

#include "tc/engine/compile/back_end.h"

namespace tc::engine {

/// The stages of a launch that are the same for all targets: extract, depend, schedule, cut_reductions.
std::vector<LaunchStage> scheduling_stages();

/// The laws of a program that is scheduled, or mapped to a CPU. One whose mapping was given, not chosen, breaks them by an
/// OptionsError. They are not run again for a scop that they held for, that is, behind a pass that changed nothing.
void verify_scheduled(const CompileState& state, const LaunchState& launch);

/// The schedule of \p launch.
std::string print_schedule(const LaunchState& launch);

/// Replaces the scop of \p launch by the same one with its coincident members gathered, and finds its clusters.
void gather_clusters(LaunchState& launch);

}  // namespace tc::engine
