#pragma once

#include <vector>

#include "tc/engine/run/executable.h"
#include "tc/graph/graph.h"

namespace tc::engine {

/// \p graph run by the interpreter node by node, for its inputs and outputs as \p arguments have them.
Executable::Interpreter graph_interpreter(graph::Graph graph, const std::vector<Argument>& arguments);

}  // namespace tc::engine
