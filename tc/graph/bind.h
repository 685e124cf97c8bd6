#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/graph/graph.h"

namespace tc::graph {

/// Def \p name of \p defs as a graph for \p inputs, one a parameter: calls of defs that hold calls are written out,
/// shapes follow node by node. Statements that write one tensor are one node, with what stands between them.
/// Nothing where no graph of values says what the def does, see flatten().
///
/// The sizes \p symbolic of the def stay names, in Tensor::dims and in the statements; the shapes are still for \p inputs.
///
/// Throws ArgumentError for inputs that do not fit, with the call in which they do not.
std::optional<Graph> bind(const std::shared_ptr<const Defs>& defs, const std::string& name,
                          const std::vector<TensorSpec>& inputs, const std::set<std::string>& symbolic = {});

}  // namespace tc::graph
