#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tc/base/stage.h"
#include "tc/engine/graph/graph_plan.h"
#include "tc/engine/graph/part_problems.h"

namespace tc::engine {

/// A def that becomes parts: the state that graph_stages() transform.
struct GraphState {
  std::shared_ptr<const Function> function;
  std::vector<Argument> arguments;
  CompileOptions options;
  graph::Partition kind = graph::Partition::Auto;  ///< how nodes are gathered
  bool calls_libraries = false;                    ///< a library may take some nodes, and leave others

  bool is_one = false;  ///< bind: there is no graph, so the other stages do nothing
  GraphPlan plan;
  graph::PartitionLimits limits;
  Placed placed;
  std::optional<graph::Graph> first;  ///< bind: graphs of later stages have to compute the same
  /// A note of the laws: the text of the graph that is known to compute what the first one does.
  std::shared_ptr<std::string> proved = std::make_shared<std::string>();
};

/// The passes over the graph of a def, in order. Each has a text form, which can be replaced: a graph::to_text() that means the same, or
/// for the last three lines of parts, "part A, B", of the tensors that their nodes write first.
///
///   bind          the calls and statements of the def as nodes, for its sizes
///   drop_copies   readers of copies read what was copied
///   fold_scales   constant scales of sums move into constants (CompileOptions::fold_scales)
///   derive        nodes are computed by cheaper programs (CompileOptions::derive)
///   layouts       tensors have layouts, between nodes that convert (CompileOptions::layouts)
///   partition     nodes that are compiled together
///   libraries     parts are cut where a library computes some of their nodes
///   spread        rows of tensors between parts are set apart
///
/// Laws: graph::verify(); a graph of few operations computes what the first one does, by the interpreter on drawn integers.
const std::vector<Stage<GraphState>>& graph_stages();

/// Is \p name the name of one of them?
bool is_graph_stage(const std::string& name);

}  // namespace tc::engine
