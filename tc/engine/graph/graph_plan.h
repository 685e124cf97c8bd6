#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/engine/compile/compile_options.h"
#include "tc/graph/partition.h"

namespace tc::engine {

/// A def to compile, and its tensors.
struct PartProblem {
  std::shared_ptr<const Function> function;  ///< without calls
  std::vector<TensorSpec> inputs, outputs;
  std::set<std::string> unaligned;                    ///< of its arguments, as in CompileOptions
  std::set<std::string> held = {};                    ///< likewise
  std::map<std::string, std::int64_t> symbolic = {};  ///< likewise: of its own sizes
};

/// A compile as a graph: its parts in order, and the different problems among them.
struct GraphPlan {
  graph::Graph graph;
  std::vector<graph::Part> parts;
  std::set<std::size_t> folded;         ///< the parts that depend on constants alone
  std::vector<std::size_t> problem_of;  ///< for each part, its index in `problems`
  std::vector<PartProblem> problems;
  std::vector<std::string> layouts = {};  ///< as CompileStats
  std::vector<DerivedNode> derived = {};
  std::size_t folded_scales = 0;
  std::map<std::size_t, TensorSpec> spread = {};  ///< specs of tensors between parts that are not dense: spread_rows.h
  std::vector<StageRecord> records = {};          ///< of graph_stages()
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();  ///< of the compile

  /// The spec of \p tensor, between parts, in the workspace.
  const TensorSpec& spec(std::size_t tensor) const {
    const auto found = spread.find(tensor);
    return found == spread.end() ? graph.tensors[tensor].spec : found->second;
  }
};

/// The nodes of \p graph that depend on \p constants alone and are run once: the profitable ones, and all of \p
/// conversions, even if holes make their results larger.
std::set<std::size_t> folded_nodes(const graph::Graph& graph, const std::set<std::size_t>& conversions,
                                   const std::set<std::string>& constants);

/// The plan to compile \p function for \p arguments in parts. Returns nothing if it is compiled as one def: because
/// the options request this, name its iterators or replace a stage, or because one part would contain everything. The
/// limits of \p options include derivation and the choice of layouts. If options.symbolic has sizes of \p function,
/// tensors between parts have symbolic sizes too, from their values for the smallest sizes to their values for \p
/// arguments; in that case the graph is not rewritten, and no library is called.
/// Throws ArgumentError for tensors that do not fit, SemanticError as define() does, OptionsError for a size that
/// decreases when symbolic ones grow, otherwise as run_supervised().
std::optional<GraphPlan> plan_graph(const std::shared_ptr<const Function>& function,
                                    const std::vector<Argument>& arguments, const CompileOptions& options);

}  // namespace tc::engine
