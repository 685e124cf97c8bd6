#include "tc/engine/compile/graph_plan.h"

#include <algorithm>
#include <map>

#include "tc/base/cancellation.h"
#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/engine/compile/bind_constants.h"
#include "tc/engine/compile/graph_derivations.h"
#include "tc/engine/compile/graph_layouts.h"
#include "tc/engine/compile/library_call.h"
#include "tc/engine/compile/price_function.h"
#include "tc/engine/machine/machine_kind.h"
#include "tc/engine/parts/library_parts.h"
#include "tc/engine/parts/spread_rows.h"
#include "tc/graph/bind.h"
#include "tc/graph/constant_nodes.h"
#include "tc/graph/distribute_constants.h"
#include "tc/graph/drop_copies.h"
#include "tc/graph/new_defs.h"
#include "tc/graph/statement/symbolic_dims.h"
#include "tc/lang/syntax/print.h"
#include "tc/strategy/cpu/choose_strips.h"

namespace tc::engine {
namespace {

/// A def of more statements is cut in parts, also where none of them is a call.
constexpr std::size_t most_statements = 16;

bool has_calls(const Function& function) { return function.defs && !is_call_free(function); }

/// Do \p options speak of \p function as one def, or is there no graph of it?
bool is_one(const Function& function, const CompileOptions& options) {
  const auto& mapping = options.mapping.values();
  return !function.defs || !options.stages.replace.empty() || !mapping.parallel_along.empty() ||
         !mapping.vector_along.empty() || !mapping.nest.empty();
}

/// How the nodes of \p function that are run, and those that are folded, are gathered.
graph::Partition partition_of(const Function& function, const CompileOptions& options) {
  const bool is_small = !has_calls(function) && function.def.statements.size() <= most_statements;
  return options.partition == graph::Partition::Auto && is_small ? graph::Partition::One : options.partition;
}

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

Placed place(const graph::Graph& graph, const std::vector<Argument>& arguments) {
  Placed placed;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) placed.arguments[graph.inputs[i]] = &arguments[i];
  for (std::size_t o = 0; o < graph.outputs.size(); ++o)
    placed.arguments[graph.outputs[o]] = &arguments[graph.inputs.size() + o];
  return placed;
}

/// What the tensors of \p part are like where it is compiled for them.
std::string tensors_text(const graph::Graph& graph, const graph::Part& part, const Placed& placed) {
  TextStream out;
  for (const auto* list : {&part.inputs, &part.outputs})
    for (auto tensor : *list)
      out << placed.spec(graph, tensor) << (placed.aligned(tensor) ? "" : " unaligned")
          << (placed.held.count(tensor) ? " constant; " : "; ");
  return out.str();
}

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

/// May a library take some nodes of \p function, and leave others?
bool may_call_libraries(const Function& function, const CompileOptions& options) {
  return options.libraries != "none" && options.symbolic.empty() && options.partition != graph::Partition::One &&
         (has_calls(function) || function.def.statements.size() > 1);
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

std::optional<double> price_problem(const PartProblem& problem, const CompileOptions& options) {
  return price_function(problem.function, arguments_of(problem), options_of(problem, options));
}

/// Prices of parts of \p graph as own code.
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

/// Asks libraries and prices about parts of a graph, whose tensors lie as `placed` says.
class LibraryParts {
 public:
  LibraryParts(const graph::Graph& graph, const Placed& placed, const CompileOptions& options)
      : graph_(graph), placed_(placed), options_(options) {}

  /// Does a library compute \p part?
  bool is_call(const graph::Part& part) const {
    const auto problem = problem_of(graph_, part, placed_);
    return choose_library_call(*problem.function, arguments_of(problem), options_of(problem, options_))
        .call.has_value();
  }

  /// A library that is named is called wherever it can be. Among all, pieces have to be cheaper than own code of the whole.
  bool cut_pays(const graph::Part& whole, const std::vector<graph::Part>& pieces) const {
    if (!asked_libraries(options_.libraries).any()) return true;
    const auto as_one = seconds(whole);
    double apart = 0;
    for (const auto& piece : pieces) {
      const auto price = seconds(piece);
      if (!price) return false;
      apart += *price;
    }
    return as_one && apart < *as_one;
  }

 private:
  std::optional<double> seconds(const graph::Part& part) const {
    return price_problem(problem_of(graph_, part, placed_), options_);
  }

  const graph::Graph& graph_;
  const Placed& placed_;
  const CompileOptions& options_;
};

/// The tensors of \p plan that are spread. Those of library calls stay dense: their prices are, and rows that are apart may cost
/// them their fastest code.
std::map<std::size_t, TensorSpec> spread_of(const GraphPlan& plan, const std::set<std::size_t>& apart,
                                            const Placed& placed, const CompileOptions& options) {
  auto result = spread_tensors(plan.graph, plan.parts, apart, options.target);
  if (options.libraries == "none") return result;
  for (const auto& part : plan.parts) {
    const auto touches = [&](const auto& entry) {
      return contains(part.inputs, entry.first) || contains(part.outputs, entry.first);
    };
    if (std::any_of(result.begin(), result.end(), touches) && LibraryParts(plan.graph, placed, options).is_call(part))
      std::erase_if(result, touches);
  }
  return result;
}

/// \p parts, those that a library computes apart from the others.
std::vector<graph::Part> with_library_parts(const graph::Graph& graph, const std::vector<graph::Part>& parts,
                                            const Placed& placed, const CompileOptions& options) {
  const LibraryParts libraries(graph, placed, options);
  std::map<std::string, bool> calls, cuts;
  const auto key = [&](const graph::Part& part) {
    return graph::key_of(graph, part) + tensors_text(graph, part, placed);
  };
  const auto is_call = [&](const graph::Part& part) {
    const auto [entry, is_new] = calls.emplace(key(part), false);
    if (is_new) entry->second = libraries.is_call(part);
    return entry->second;
  };
  return cut_for_libraries(graph, parts, is_call, [&](const graph::Part& whole, const auto& pieces) {
    const auto [entry, is_new] = cuts.emplace(key(whole), false);
    if (is_new) entry->second = libraries.cut_pays(whole, pieces);
    return entry->second;
  });
}

bool may_rewrite(const CompileOptions& options) {
  return options.partition != graph::Partition::One && options.symbolic.empty() &&
         (chooses_layouts(options) || options.derive > 0 || !options.derivation.empty());
}

/// Moves what the constants of \p options scale sums of \p plan by into them.
void fold_scales(GraphPlan& plan, const CompileOptions& options) {
  auto made = graph::distribute_constants(plan.graph, names_of(options.constants));
  if (!made) return;
  plan.graph = std::move(made->graph);
  plan.folded_scales = made->sums;
}

std::vector<TensorSpec> input_specs(const graph::Graph& graph) {
  std::vector<TensorSpec> result;
  for (const auto tensor : graph.inputs) result.push_back(graph.tensors[tensor].spec);
  return result;
}

/// What \p options derive of \p function, whose graph is \p graph: as they are given it, else a def without calls first as one
/// node, then the nodes.
std::optional<DerivedPlan> derive(const graph::Graph& graph, const Function& function, const CompileOptions& options) {
  if (is_call_free(function)) {
    const auto whole = graph::graph_of_call(function.defs, function.name(), input_specs(graph));
    if (auto given = derive_as_given(whole, options)) return given;
    if (auto derived = derive_nodes(whole, options)) return derived;
    if (is_one_statement(function)) return std::nullopt;
  }
  return derive_nodes(graph, options, is_call_free(function));
}

/// Derives the nodes of \p plan, then lays its tensors out, as \p options ask; what converts stays alone. False where nothing
/// became of it.
bool rewrite(GraphPlan& plan, graph::PartitionLimits& limits, const Function& function, const CompileOptions& options) {
  if (!may_rewrite(options)) return false;
  if (auto derived = derive(plan.graph, function, options)) {
    plan.graph = std::move(derived->graph);
    plan.derived = std::move(derived->nodes);
  }
  if (auto laid_out = choose_layouts(plan.graph, options)) {
    plan.graph = std::move(laid_out->graph);
    plan.layouts = std::move(laid_out->decisions);
    limits.alone = std::move(laid_out->conversions);
  }
  return !plan.derived.empty() || !plan.layouts.empty();
}

/// plan_graph() of a def that may become parts.
std::optional<GraphPlan> planned(const Function& function, const std::vector<Argument>& arguments,
                                 const CompileOptions& options) {
  auto kind = partition_of(function, options);
  const bool calls_libraries = may_call_libraries(function, options);
  const auto begin = std::chrono::steady_clock::now();
  std::set<std::string> symbolic;
  for (const auto& [name, least] : options.symbolic) symbolic.insert(name);
  auto graph = graph::bind(function.defs, function.name(), specs(arguments, false), symbolic);
  if (!graph) return std::nullopt;
  GraphPlan plan{graph::drop_copies(std::move(*graph)), {}, {}, {}, {}, {}, {}, 0, {}, begin};
  if (options.fold_scales) fold_scales(plan, options);
  graph::PartitionLimits limits;
  if (rewrite(plan, limits, function, options)) kind = options.partition;
  limits.apart = folded_nodes(plan.graph, limits.alone, names_of(options.constants));
  auto placed = place(plan.graph, arguments);
  placed.least = options.symbolic;
  limits.seconds = own_prices(plan.graph, placed, options);
  limits.large = strategy::large_temporary(options.target);
  limits.tie = strategy::tie_of_strips;
  plan.parts = graph::partition(plan.graph, kind, limits);
  if (options.libraries != "none")
    placed.held = graph::held_tensors(plan.graph, names_of(options.constants), limits.apart);
  if (calls_libraries) plan.parts = with_library_parts(plan.graph, plan.parts, placed, options);
  if (plan.parts.size() < 2 && plan.layouts.empty() && plan.derived.empty()) return std::nullopt;
  for (std::size_t p = 0; p < plan.parts.size(); ++p)
    if (limits.apart.count(plan.parts[p].nodes.front())) plan.folded.insert(p);
  if (!machine_kind_of(options.target).own_memory && symbolic.empty())
    placed.spread = plan.spread = spread_of(plan, limits.apart, placed, options);
  std::map<std::string, std::size_t> known;
  for (const auto& part : plan.parts) {
    const auto key = graph::key_of(plan.graph, part) + tensors_text(plan.graph, part, placed);
    const auto [entry, is_new] = known.emplace(key, plan.problems.size());
    if (is_new) plan.problems.push_back(problem_of(plan.graph, part, placed));
    plan.problem_of.push_back(entry->second);
  }
  return plan;
}

}  // namespace

std::set<std::size_t> folded_nodes(const graph::Graph& graph, const std::set<std::size_t>& conversions,
                                   const std::set<std::string>& constants) {
  auto result = graph::constant_nodes(graph, constants);
  const auto is_held = [&](std::size_t tensor) {
    const auto& producer = graph.tensors[tensor].producer;
    return !producer || result.count(*producer);
  };
  for (const auto node : graph::decided_nodes(graph, constants)) {
    const auto& inputs = graph.nodes[node].inputs;
    if (conversions.count(node) && std::all_of(inputs.begin(), inputs.end(), is_held)) result.insert(node);
  }
  return result;
}

std::optional<GraphPlan> plan_graph(const std::shared_ptr<const Function>& function,
                                    const std::vector<Argument>& arguments, const CompileOptions& options) {
  if (is_one(*function, options)) return std::nullopt;
  if (partition_of(*function, options) == graph::Partition::One && options.constants.empty() &&
      !may_call_libraries(*function, options) && !may_rewrite(options))
    return std::nullopt;
  return supervised(limits_of(options), "the compiler", [=](const Supervision& supervision) {
    auto how = options;
    how.stages.cancellation = supervision.cancellation();
    how.time_limit = 0;
    return planned(*function, arguments, how);
  });
}

}  // namespace tc::engine
