#pragma once

#include <vector>

#include "tc/graph/graph.h"
#include "tc/graph/resolve/resolve_layouts.h"

namespace tc::graph {

/// A tensor of a graph in a layout.
struct PlacedInGraph {
  std::size_t tensor = 0;  ///< of the graph before
  std::size_t placed = 0;  ///< the tensor of the graph behind that holds its elements
  bool converted = false;  ///< a node copies it from another layout; else its producer writes it so
  Layout layout;
};

/// A graph whose tensors have layouts.
struct LaidOutGraph {
  Graph graph;
  std::vector<PlacedInGraph> placed;
  std::vector<std::size_t> conversions;  ///< the nodes of the graph that convert
};

/// The sizes of the def of \p node of \p graph.
lang::SizeMap sizes_of(const Graph& graph, const Node& node);

/// \p graph with its tensors where \p resolution says, which is of its tensors and nodes in order; nodes behind these stand for
/// who takes the results. A node with an operand in a layout becomes a call of a def that apply_layouts() made and proved;
/// a conversion is a node of its own, a call of a generated def, behind the node that writes what it converts.
/// The inputs and results of the graph stay as they are. It means the same, and prints as TC.
///
///   Y = conv(X, K), K in HWIO, Y in NHWC
///
///   K_laid = convert(K)   Y_laid = conv_laid(X, K_laid)   Y = convert_1(Y_laid)
///
/// Throws OptionsError for layouts that a node cannot take.
LaidOutGraph lay_out(const Graph& graph, const LayoutResolution& resolution);

}  // namespace tc::graph
