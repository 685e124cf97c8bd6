#pragma once

#include <vector>

#include "tc/graph/graph.h"
#include "tc/graph/partition.h"

namespace tc::graph {

/// Throws InternalError unless \p graph is one: nodes read inputs of the graph and what earlier nodes write, each tensor is
/// written by one node, tensors fit the parameters and returns of the defs, readers and writers are listed, and each
/// output is written.
void verify(const Graph& graph);

/// The same for \p parts of \p graph: each node is in one part, a part reads inputs and what earlier parts give, and gives all that
/// later parts and the caller read.
void verify(const Graph& graph, const std::vector<Part>& parts);

}  // namespace tc::graph
