#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/engine/compile/compile.h"
#include "tc/graph/graph.h"
#include "tc/graph/layout_alternatives.h"
#include "tc/layout/rewrite/apply.h"

namespace tc::engine {

/// A node takes a layout where it is so many times as cheap in it by the model, which is no better than that in telling the
/// layouts of one convolution apart: benchmarks/layouts.py --guideline.
constexpr double least_layout_gain = 1.3;

/// The same of layouts of constants alone, which save copies and take nothing.
constexpr double least_constant_layout_gain = 1.005;

/// \p layouts of the operands of \p def, inputs before outputs, by their names; those that stay as they are are left out.
layout::Layouts by_name(const lang::Def& def, const graph::OperandLayouts& layouts);

/// Elements of a block for code of \p target: as many numbers of 32 bits as a vector has, 4 at least.
std::int64_t block_of(const Target& target);

/// A graph in layouts, and what was decided, in words.
struct LaidOutPlan {
  graph::Graph graph;
  std::set<std::size_t> conversions;  ///< its nodes that convert
  std::vector<std::string>
      decisions;  ///< a line a tensor that has a layout or is converted, then one of what it is to save
};

/// Do \p options ask for layouts of a graph, and are there tensors that may have some?
bool chooses_layouts(const CompileOptions& options);

/// \p graph, made from \p function, in the layouts that options.layouts asks for: those of least price, where each node that
/// reduces has the price of price_function() in each of its alternatives (graph::layout_alternatives), or that of a library's
/// routine where options.libraries takes one; a conversion costs what copying does. Conversions of constants cost nothing. Nothing
/// where chooses_layouts() says no, nothing prices the target, the graph is too entangled for an exact choice, or all tensors
/// are best as they are.
std::optional<LaidOutPlan> choose_layouts(const graph::Graph& graph, const CompileOptions& options);

}  // namespace tc::engine
