#pragma once

#include <map>
#include <string>
#include <vector>

#include "tc/polyhedral/core/cluster_view.h"

namespace tc::halide_bridge {

/// The values that the members of the bands above each statement of \p scop take, outermost first, by the statement's id: bounds of the
/// loops of its AST that conditions around a loop may make redundant, so that the loop no longer says them.
///
///   if (j < 6) { for (c <= j - 4) S }, where S runs for c < 2 only      { S: ..., [0, 1] }
std::map<std::string, std::vector<polyhedral::Interval>> member_ranges(const polyhedral::Scop& scop);

}  // namespace tc::halide_bridge
