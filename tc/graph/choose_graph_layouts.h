#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "tc/graph/graph.h"
#include "tc/graph/layout_alternatives.h"
#include "tc/graph/options/layout_mode.h"
#include "tc/graph/resolve/resolve_layouts.h"

namespace tc::graph {

/// What choose_graph_layouts() obeys, and whom it asks for prices.
struct GraphLayoutOptions {
  std::int64_t block = 16;  ///< as AlternativeOptions
  /// How layouts are chosen: Resolve; Fold, Adjacent, Forward and Backward, in which conversions may be folded into the accesses of nodes.
  LayoutMode mode = LayoutMode::Resolve;
  bool constants_alone = false;  ///< tensors that a run computes stay as they are
  double least_constant_gain =
      1;  ///< a node must be so many times as cheap with constants alone in layouts to take these
  std::set<std::string> constants = {};  ///< inputs whose conversions cost nothing
  /// Layouts in which \p node may take and give its tensors beside those of layout_alternatives(): what libraries are written for.
  /// May be null.
  std::function<std::vector<OperandLayouts>(const Node& node)> more = {};
  /// Seconds of \p node with its operands in these layouts; nothing where it cannot take them, or nobody knows.
  std::function<std::optional<double>(const Node& node, const OperandLayouts& layouts)> seconds;
  /// Does the price of \p node in these layouts differ from that in others by copies alone, so that no gain is in doubt? Where it does in
  /// plain ones, `more` are the only others that are looked at, if there are any. May be null.
  std::function<bool(const Node& node, const OperandLayouts& layouts)> differs_by_copies = {};
  /// Seconds that a copy of a tensor into another layout takes.
  std::function<double(const Tensor& tensor)> conversion_seconds;
};

/// Layouts of all tensors of a graph, and what they were chosen from.
struct GraphLayouts {
  LayoutGraph problem;          ///< the nodes of the graph, and one for each result behind them
  LayoutResolution resolution;  ///< of `problem`
  double plain_seconds = 0;     ///< of the nodes that were asked about, without layouts, where they may have none
  double seconds = 0;           ///< of them, and of conversions, as chosen
};

/// The layouts of least cost for \p graph: nodes that reduce are asked for what each of their alternatives costs; nodes
/// that do not cost the same in all, but for what they convert, and take those layouts that others ask for. Sharing conversions
/// (choose_layouts), exact where the graph is not too entangled; else resolution.bound says how far from the least cost it may be. With
/// Forward and Backward node by node (resolve_forward, resolve_backward). Inputs come and results go as they are. Nothing runs.
GraphLayouts choose_graph_layouts(const Graph& graph, const GraphLayoutOptions& options);

}  // namespace tc::graph
