#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tc/graph/graph.h"

namespace tc::graph {

/// Def \p name of \p defs as a graph for \p inputs, one a parameter: calls of defs that hold calls are written out,
/// shapes follow node by node. Statements that write one tensor are one node, with what stands between them.
/// Nothing where no graph of values says what the def does, see flatten().
///
/// Throws ArgumentError for inputs that do not fit, with the call in which they do not.
std::optional<Graph> bind(const std::shared_ptr<const Defs>& defs, const std::string& name,
                          const std::vector<TensorSpec>& inputs);

}  // namespace tc::graph
