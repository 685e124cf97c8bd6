#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/engine/compile/compile_options.h"
#include "tc/graph/graph.h"
#include "tc/graph/layout_alternatives.h"
#include "tc/layout/rewrite/apply.h"

namespace tc::engine {

/// A node has constants alone in layouts if the model predicts at least this gain.
constexpr double least_constant_layout_gain = 1.005;

/// \p layouts of the operands of \p def, inputs before outputs, by name; operands without a layout are omitted.
layout::Layouts by_name(const lang::Def& def, const graph::OperandLayouts& layouts);

/// The elements of a block for code of \p target: the number of 32-bit elements of a vector, at least 4.
std::int64_t block_of(const Target& target);

/// A graph in layouts, and the decisions in words.
struct LaidOutPlan {
  graph::Graph graph;
  std::set<std::size_t> conversions;  ///< its nodes that are conversions
  std::vector<std::string>
      decisions;  ///< a line for each tensor with a layout or a conversion, then a line with the predicted gain
};

/// Do \p options request layouts of a graph, and can some tensors have layouts?
bool chooses_layouts(const CompileOptions& options);

/// \p graph, made from \p function, in the layouts of minimum price among the layouts that options.layouts allows.
/// Each node with a reduction has the price of price_function() in each of its alternatives
/// (graph::layout_alternatives), or of a library's routine if options.libraries uses one. A conversion costs as much
/// as a copy, and nothing for constants. Returns nothing if chooses_layouts() is false, the target has no prices, the
/// graph is too large for an exact choice, or no layout is a gain.
std::optional<LaidOutPlan> choose_layouts(const graph::Graph& graph, const CompileOptions& options);

}  // namespace tc::engine
