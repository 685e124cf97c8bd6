#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/engine/graph/graph_plan.h"

namespace tc::engine {

/// The tensors of \p graph as arguments have them: strides may be others, and memory that begins anywhere.
struct Placed {
  std::map<std::size_t, const Argument*> arguments;  ///< by tensor
  std::set<std::size_t> held;                        ///< tensors that never change, where a part gains by knowing it
  std::map<std::size_t, TensorSpec> spread;          ///< tensors between parts that are not dense
  std::map<std::string, std::int64_t> least;         ///< of the symbolic sizes of the graph

  TensorSpec spec(const graph::Graph& graph, std::size_t tensor) const {
    if (auto found = arguments.find(tensor); found != arguments.end()) return found->second->spec;
    auto found = spread.find(tensor);
    return found == spread.end() ? graph.tensors[tensor].spec : found->second;
  }
  bool aligned(std::size_t tensor) const {
    auto found = arguments.find(tensor);
    return found == arguments.end() || found->second->aligned;
  }
};

/// \p arguments as the inputs and outputs of \p graph, which they outlive.
Placed place(const graph::Graph& graph, const std::vector<Argument>& arguments);

/// The tensors of \p part when it is compiled for them: equal for parts that are compiled once if their key_of() is equal too.
std::string tensors_text(const graph::Graph& graph, const graph::Part& part, const Placed& placed);

/// \p part as a def to compile. Throws OptionsError for a size that decreases when symbolic ones grow.
PartProblem problem_of(const graph::Graph& graph, const graph::Part& part, const Placed& placed);

/// Does a library compute \p part, as \p options ask?
bool is_library_call(const graph::Graph& graph, const graph::Part& part, const Placed& placed,
                     const CompileOptions& options);

/// The predicted seconds of \p problem, compiled as \p options ask; nothing without a price.
std::optional<double> price_problem(const PartProblem& problem, const CompileOptions& options);

/// Prices of parts of \p graph as own code. All arguments outlive the result.
std::function<std::optional<double>(const graph::Part&)> own_prices(const graph::Graph& graph, const Placed& placed,
                                                                    const CompileOptions& options);

}  // namespace tc::engine
