#pragma once

#include <map>
#include <string>
#include <vector>

#include "tc/halide_bridge/lower/index_checks.h"

namespace tc::halide_bridge {

/// What one assignment of the def becomes, and the checks that must pass before it runs.
struct Step {
  std::vector<CheckStep> checks;
  std::vector<ProgramStatement> statements;
};

/// \p steps as launches; the flags become tensors of \p tensors, in the order of \p names.
///
/// Checks that read inputs only stand in front of everything, one launch a level. Another check ends the launch before
/// its step: its first level joins that launch, each further level is a launch of its own. Two checks of one value
/// between the same writes are one. Statement ids are given in program order.
std::vector<Launch> split_launches(std::vector<Step> steps, std::map<std::string, ProgramTensor>& tensors,
                                   std::vector<std::string>& names);

}  // namespace tc::halide_bridge
