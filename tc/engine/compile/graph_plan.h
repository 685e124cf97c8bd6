#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/engine/compile/compile.h"
#include "tc/graph/partition.h"

namespace tc::engine {

/// A def to be compiled, and the tensors it is compiled for.
struct PartProblem {
  std::shared_ptr<const Function> function;  ///< without calls
  std::vector<TensorSpec> inputs, outputs;
  std::set<std::string> unaligned;                    ///< of its arguments, as CompileOptions says
  std::set<std::string> held = {};                    ///< likewise
  std::map<std::string, std::int64_t> symbolic = {};  ///< likewise: of its own sizes
};

/// A compile as a graph: its parts, in order, and which of them differ.
struct GraphPlan {
  graph::Graph graph;
  std::vector<graph::Part> parts;
  std::set<std::size_t> folded;         ///< the parts that constants alone decide
  std::vector<std::size_t> problem_of;  ///< of each part, its place in `problems`
  std::vector<PartProblem> problems;
  std::vector<std::string> layouts = {};  ///< as CompileStats
  std::vector<DerivedNode> derived = {};
  std::size_t folded_scales = 0;
  std::map<std::size_t, TensorSpec> spread = {};  ///< how tensors between parts lie that are not dense: spread_rows.h
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();  ///< of the compile

  /// How \p tensor, between parts, lies in the workspace.
  const TensorSpec& spec(std::size_t tensor) const {
    const auto found = spread.find(tensor);
    return found == spread.end() ? graph.tensors[tensor].spec : found->second;
  }
};

/// The nodes of \p graph that are run once, as \p constants decide them: those that pay, and those of \p conversions, also where
/// holes make what they write larger.
std::set<std::size_t> folded_nodes(const graph::Graph& graph, const std::set<std::size_t>& conversions,
                                   const std::set<std::string>& constants);

/// How \p function is compiled for \p arguments in parts; nothing where it is compiled as one def: as the options ask
/// for, because they speak of its iterators or replace a stage, or because one part would hold it all.
/// Derivation and the choice of layouts among it, it stays within the limits of \p options.
/// Where options.symbolic has sizes of \p function, tensors between parts have symbolic sizes too: those of parts are at least what they
/// are for the least values, and at most those for \p arguments; then it is not rewritten, and no library is called.
/// Throws ArgumentError for tensors that do not fit, SemanticError as define() does, OptionsError for a size that grows less where
/// symbolic ones grow, else as run_supervised().
std::optional<GraphPlan> plan_graph(const std::shared_ptr<const Function>& function,
                                    const std::vector<Argument>& arguments, const CompileOptions& options);

}  // namespace tc::engine
