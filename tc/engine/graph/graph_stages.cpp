#include "tc/engine/graph/graph_stages.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/engine/compile/bind_constants.h"
#include "tc/engine/compile/library_call.h"
#include "tc/engine/define/function.h"
#include "tc/engine/graph/graph_derivations.h"
#include "tc/engine/graph/graph_layouts.h"
#include "tc/engine/graph/same_results.h"
#include "tc/engine/machine/machine_kind.h"
#include "tc/engine/parts/library_parts.h"
#include "tc/engine/parts/spread_rows.h"
#include "tc/graph/bind.h"
#include "tc/graph/constant_nodes.h"
#include "tc/graph/distribute_constants.h"
#include "tc/graph/drop_copies.h"
#include "tc/graph/new_defs.h"
#include "tc/graph/verify_graph.h"
#include "tc/strategy/cpu/choose_strips.h"

namespace tc::engine {
namespace {

/// May nodes be replaced by others?
bool may_replace_nodes(const CompileOptions& options) {
  return options.partition != graph::Partition::One && options.symbolic.empty();
}

void bind(GraphState& state) {
  std::set<std::string> symbolic;
  for (const auto& [name, least] : state.options.symbolic) symbolic.insert(name);
  auto graph = graph::bind(state.function->defs, state.function->name(), specs(state.arguments, false), symbolic);
  state.is_one = !graph;
  if (!graph) return;
  state.first = *graph;
  state.plan.graph = std::move(*graph);
}

void drop_copies(GraphState& state) { state.plan.graph = graph::drop_copies(std::move(state.plan.graph)); }

void fold_scales(GraphState& state) {
  if (!state.options.fold_scales) return;
  auto made = graph::distribute_constants(state.plan.graph, names_of(state.options.constants));
  if (!made) return;
  state.plan.graph = std::move(made->graph);
  state.plan.folded_scales = made->sums;
}

std::vector<TensorSpec> input_specs(const graph::Graph& graph) {
  std::vector<TensorSpec> result;
  for (const auto tensor : graph.inputs) result.push_back(graph.tensors[tensor].spec);
  return result;
}

/// What \p options derive of \p function, whose graph is \p graph: as they are given it, else a def without calls first as one
/// node, then the nodes.
std::optional<DerivedPlan> derived_plan(const graph::Graph& graph, const Function& function,
                                        const CompileOptions& options) {
  if (is_call_free(function)) {
    const auto whole = graph::graph_of_call(function.defs, function.name(), input_specs(graph));
    if (auto given = derive_as_given(whole, options)) return given;
    if (auto derived = derive_nodes(whole, options)) return derived;
    if (is_one_statement(function)) return std::nullopt;
  }
  return derive_nodes(graph, options, is_call_free(function));
}

void derive(GraphState& state) {
  const auto& options = state.options;
  const bool derives = options.derive > 0 || !options.derivation.empty() || rolls_maxima(options);
  if (!may_replace_nodes(options) || !derives) return;
  auto derived = derived_plan(state.plan.graph, *state.function, options);
  if (!derived) return;
  state.plan.graph = std::move(derived->graph);
  state.plan.derived = std::move(derived->nodes);
  state.kind = options.partition;
}

/// What converts between layouts stays alone.
void lay_out(GraphState& state) {
  if (!may_replace_nodes(state.options)) return;
  auto laid_out = choose_layouts(state.plan.graph, state.options);
  if (!laid_out) return;
  state.plan.graph = std::move(laid_out->graph);
  state.plan.layouts = std::move(laid_out->decisions);
  state.limits.alone = std::move(laid_out->conversions);
  state.kind = state.options.partition;
}

/// Do \p pieces that a library computes pay, apart from the rest of \p whole? A library that is named is called wherever it can
/// be; among all, the pieces have to be cheaper than own code of the whole.
bool cut_pays(const GraphState& state, const graph::Part& whole, const std::vector<graph::Part>& pieces) {
  if (!asked_libraries(state.options.libraries).any()) return true;
  const auto seconds = [&](const graph::Part& part) {
    return price_problem(problem_of(state.plan.graph, part, state.placed), state.options);
  };
  const auto as_one = seconds(whole);
  double apart = 0;
  for (const auto& piece : pieces) {
    const auto price = seconds(piece);
    if (!price) return false;
    apart += *price;
  }
  return as_one && apart < *as_one;
}

/// The parts of \p state, where nodes that a library computes are parts of their own.
std::vector<graph::Part> with_library_parts(const GraphState& state) {
  const auto& graph = state.plan.graph;
  std::map<std::string, bool> calls, cuts;
  const auto key = [&](const graph::Part& part) {
    return graph::key_of(graph, part) + tensors_text(graph, part, state.placed);
  };
  const auto is_call = [&](const graph::Part& part) {
    const auto [entry, is_new] = calls.emplace(key(part), false);
    if (is_new) entry->second = is_library_call(graph, part, state.placed, state.options);
    return entry->second;
  };
  return cut_for_libraries(graph, state.plan.parts, is_call, [&](const graph::Part& whole, const auto& pieces) {
    const auto [entry, is_new] = cuts.emplace(key(whole), false);
    if (is_new) entry->second = cut_pays(state, whole, pieces);
    return entry->second;
  });
}

/// The tensors that are spread. Tensors of library calls stay dense: their prices are, and rows that are apart may cost
/// them their fastest code.
std::map<std::size_t, TensorSpec> spread_of(const GraphState& state) {
  const auto& [graph, parts] = std::tie(state.plan.graph, state.plan.parts);
  auto result = spread_tensors(graph, parts, state.limits.apart, state.options.target);
  if (state.options.libraries == "none") return result;
  for (const auto& part : parts) {
    const auto touches = [&part = part](const auto& entry) {
      return contains(part.inputs, entry.first) || contains(part.outputs, entry.first);
    };
    if (std::any_of(result.begin(), result.end(), touches) && is_library_call(graph, part, state.placed, state.options))
      std::erase_if(result, touches);
  }
  return result;
}

/// What partitions depend on: where tensors lie, which nodes constants decide, and prices.
void prepare_parts(GraphState& state) {
  const auto& options = state.options;
  state.limits.apart = folded_nodes(state.plan.graph, state.limits.alone, names_of(options.constants));
  state.placed = place(state.plan.graph, state.arguments);
  state.placed.least = options.symbolic;
  state.limits.seconds = own_prices(state.plan.graph, state.placed, options);
  state.limits.large = strategy::large_temporary(options.target);
  state.limits.tie = strategy::tie_of_strips;
}

void partition(GraphState& state) {
  prepare_parts(state);
  state.plan.parts = graph::partition(state.plan.graph, state.kind, state.limits);
}

void cut_libraries(GraphState& state) {
  if (state.options.libraries != "none")
    state.placed.held = graph::held_tensors(state.plan.graph, names_of(state.options.constants), state.limits.apart);
  if (state.calls_libraries) state.plan.parts = with_library_parts(state);
}

void spread(GraphState& state) {
  if (machine_kind_of(state.options.target).own_memory || !state.options.symbolic.empty()) return;
  if (state.plan.parts.size() < 2 && state.plan.layouts.empty() && state.plan.derived.empty()) return;
  state.placed.spread = state.plan.spread = spread_of(state);
}

std::string print_graph(const GraphState& state) { return graph::to_text(state.plan.graph); }

std::string print_parts(const GraphState& state) {
  const auto& graph = state.plan.graph;
  std::string result;
  for (const auto& part : state.plan.parts) {
    std::vector<std::string> names;
    for (const auto n : part.nodes) names.push_back(graph.tensors[graph.nodes[n].outputs.at(0)].name);
    result += str("part ", join(names), "\n");
  }
  return result;
}

std::string print_spread(const GraphState& state) {
  std::string result;
  for (const auto& [tensor, spec] : state.plan.spread)
    result += str(state.plan.graph.tensors[tensor].name, ": ", spec, "\n");
  return result;
}

void verify_graph(const GraphState& state) {
  graph::verify(state.plan.graph);
  const auto text = print_graph(state);
  if (text == *state.proved) return;
  const bool is_first = state.proved->empty();
  if (!is_first && state.options.symbolic.empty())
    if (const auto mismatch = different_results(*state.first, state.plan.graph)) throw InternalError(*mismatch);
  *state.proved = text;
}

void verify_parts(const GraphState& state) { graph::verify(state.plan.graph, state.plan.parts); }

[[noreturn]] void refuse(const char* what, const std::string& why) {
  throw OptionsError(str("the text that was given is no ", what, " of this def: ", why));
}

/// The graph that \p text says, with the inputs and outputs of the first one, and computing the same.
void replace_graph(GraphState& state, const std::string& text) {
  if (state.is_one) return;
  const auto name = state.plan.graph.name;
  auto graph = graph::bind(define(text).function(name)->defs, name, specs(state.arguments, false), {});
  if (!graph) refuse("graph", str("'", name, "' is no graph"));
  const auto& before = state.plan.graph;
  for (const auto& [own, wanted, of] : {std::tuple(&graph->inputs, &before.inputs, "inputs"),
                                        std::tuple(&graph->outputs, &before.outputs, "outputs")}) {
    bool same = own->size() == wanted->size();
    for (std::size_t i = 0; same && i < own->size(); ++i)
      same = graph->tensors[(*own)[i]].spec == before.tensors[(*wanted)[i]].spec;
    if (!same) refuse("graph", str("its ", of, " are others"));
  }
  if (const auto mismatch = different_results(*state.first, *graph)) refuse("graph", *mismatch);
  state.plan.graph = std::move(*graph);
}

/// The parts that lines of \p text name.
void replace_parts(GraphState& state, const std::string& text) {
  const auto& graph = state.plan.graph;
  std::vector<graph::Part> parts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    if (line.rfind("part ", 0) != 0) refuse("partition", str("'", line, "' is no line 'part A, B'"));
    std::vector<std::size_t> nodes;
    std::istringstream names(line.substr(5));
    for (std::string name; std::getline(names, name, ',');) {
      name = name.substr(name.find_first_not_of(' '));
      const auto is_it = [&](const graph::Node& node) { return graph.tensors[node.outputs.at(0)].name == name; };
      const auto node = std::find_if(graph.nodes.begin(), graph.nodes.end(), is_it);
      if (node == graph.nodes.end()) refuse("partition", str("no node writes '", name, "'"));
      nodes.push_back(static_cast<std::size_t>(node - graph.nodes.begin()));
    }
    std::sort(nodes.begin(), nodes.end());
    parts.push_back(graph::make_part(graph, std::move(nodes)));
  }
  try {
    graph::verify(graph, parts);
  } catch (const InternalError& error) {
    refuse("partition", error.what());
  }
  state.plan.parts = std::move(parts);
}

void replace_partition(GraphState& state, const std::string& text) {
  if (state.is_one) return;
  prepare_parts(state);
  replace_parts(state, text);
}

void replace_libraries(GraphState& state, const std::string& text) {
  if (state.is_one) return;
  state.calls_libraries = false;
  cut_libraries(state);
  replace_parts(state, text);
}

Stage<GraphState> stage(const char* name, void (*run)(GraphState&), std::string (*print)(const GraphState&),
                        void (*verify)(const GraphState&), void (*parse)(GraphState&, const std::string&)) {
  Stage<GraphState> result;
  result.name = result.step = name;
  result.run = [run](GraphState& state) {
    if (!state.is_one) run(state);
  };
  result.print = [print](const GraphState& state) { return state.is_one ? std::string() : print(state); };
  result.verify = [verify](const GraphState& state) {
    if (!state.is_one) verify(state);
  };
  if (parse) result.parse = parse;
  return result;
}

}  // namespace

const std::vector<Stage<GraphState>>& graph_stages() {
  static const auto& stages = *new std::vector<Stage<GraphState>>{
      stage("bind", bind, print_graph, verify_graph, nullptr),
      stage("drop_copies", drop_copies, print_graph, verify_graph, replace_graph),
      stage("fold_scales", fold_scales, print_graph, verify_graph, replace_graph),
      stage("derive", derive, print_graph, verify_graph, replace_graph),
      stage("layouts", lay_out, print_graph, verify_graph, replace_graph),
      stage("partition", partition, print_parts, verify_parts, replace_partition),
      stage("libraries", cut_libraries, print_parts, verify_parts, replace_libraries),
      stage("spread", spread, print_spread, verify_parts, nullptr),
  };
  return stages;
}

bool is_graph_stage(const std::string& name) {
  const auto& stages = graph_stages();
  return std::any_of(stages.begin(), stages.end(), [&](const auto& stage) { return stage.name == name; });
}

}  // namespace tc::engine
