#include "tc/engine/graph/part_problems.h"

#include <algorithm>

#include "tc/base/cancellation.h"
#include "tc/base/str.h"
#include "tc/engine/compile/library_call.h"
#include "tc/engine/compile/price_function.h"
#include "tc/graph/statement/symbolic_dims.h"
#include "tc/lang/syntax/print.h"

namespace tc::engine {
namespace {

/// The least values of the symbolic sizes of \p def, the part \p part, where those of the graph are at least \p least.
std::map<std::string, std::int64_t> least_sizes(const graph::Graph& graph, const graph::Part& part,
                                                const lang::Def& def,
                                                const std::map<std::string, std::int64_t>& least) {
  std::vector<graph::Dims> dims;
  std::vector<std::vector<std::int64_t>> shapes;
  for (const auto tensor : part.inputs) {
    dims.push_back(graph.tensors[tensor].dims);
    shapes.push_back(graph.tensors[tensor].spec.shape);
  }
  std::map<std::string, std::int64_t> result;
  const auto largest = lang::bind_sizes(def, shapes);
  for (const auto& [name, value] : graph::symbolic_sizes(def, dims)) {
    const auto own = lang::evaluate_size(value, least);
    if (own > largest.at(name)) throw OptionsError(str("'", lang::print(value), "' is less where sizes are greater"));
    result[name] = std::max<std::int64_t>(own, 1);
  }
  return result;
}

std::vector<Argument> arguments_of(const PartProblem& problem) {
  return make_arguments(*problem.function, problem.inputs, problem.outputs);
}

/// \p options as \p problem, a part of what they are for, is compiled with them.
CompileOptions options_of(const PartProblem& problem, const CompileOptions& options) {
  auto how = options;
  how.partition = graph::Partition::One;
  how.layouts = graph::LayoutMode::Off;
  how.constants.clear();
  how.held = problem.held;
  how.unaligned = problem.unaligned;
  how.symbolic.clear();  // prices are for the largest sizes
  return how;
}

}  // namespace

Placed place(const graph::Graph& graph, const std::vector<Argument>& arguments) {
  Placed placed;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) placed.arguments[graph.inputs[i]] = &arguments[i];
  for (std::size_t o = 0; o < graph.outputs.size(); ++o)
    placed.arguments[graph.outputs[o]] = &arguments[graph.inputs.size() + o];
  return placed;
}

std::string tensors_text(const graph::Graph& graph, const graph::Part& part, const Placed& placed) {
  TextStream out;
  for (const auto* list : {&part.inputs, &part.outputs})
    for (auto tensor : *list)
      out << placed.spec(graph, tensor) << (placed.aligned(tensor) ? "" : " unaligned")
          << (placed.held.count(tensor) ? " constant; " : "; ");
  return out.str();
}

PartProblem problem_of(const graph::Graph& graph, const graph::Part& part, const Placed& placed) {
  auto def = graph::def_of(graph, part);
  auto function = std::make_shared<Function>();
  function->file = graph.defs->file;
  function->def = def->def;
  function->ranges = def->ranges;
  function->key = lang::canonical_text(def->def);
  PartProblem problem{function, {}, {}, {}, {}, least_sizes(graph, part, def->def, placed.least)};
  auto add = [&](std::size_t tensor, const std::string& name, std::vector<TensorSpec>& specs) {
    specs.push_back(placed.spec(graph, tensor));
    if (!placed.aligned(tensor)) problem.unaligned.insert(name);
    if (placed.held.count(tensor)) problem.held.insert(name);
  };
  for (std::size_t i = 0; i < part.inputs.size(); ++i) add(part.inputs[i], def->def.params[i].name, problem.inputs);
  for (std::size_t o = 0; o < part.outputs.size(); ++o) add(part.outputs[o], def->def.returns[o].name, problem.outputs);
  return problem;
}

bool is_library_call(const graph::Graph& graph, const graph::Part& part, const Placed& placed,
                     const CompileOptions& options) {
  const auto problem = problem_of(graph, part, placed);
  return choose_library_call(*problem.function, arguments_of(problem), options_of(problem, options)).call.has_value();
}

std::optional<double> price_problem(const PartProblem& problem, const CompileOptions& options) {
  return price_function(problem.function, arguments_of(problem), options_of(problem, options));
}

std::function<std::optional<double>(const graph::Part&)> own_prices(const graph::Graph& graph, const Placed& placed,
                                                                    const CompileOptions& options) {
  auto how = options;
  how.libraries = "none";
  return [&graph, &placed, how = std::move(how)](const graph::Part& part) -> std::optional<double> {
    try {
      return price_problem(problem_of(graph, part, placed), how);
    } catch (const ResourceError&) {
      check_cancelled("the parts of a graph");
      return std::nullopt;
    }
  };
}

}  // namespace tc::engine
