#include "tc/engine/compile/graph_derivations.h"

#include <algorithm>
#include <map>

#include "tc/base/str.h"
#include "tc/derive/derivation_text.h"
#include "tc/derive/derive.h"
#include "tc/derive/form/from_def.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/form/to_def.h"
#include "tc/engine/compile/price_function.h"
#include "tc/graph/constant_nodes.h"
#include "tc/graph/new_defs.h"
#include "tc/graph/partition.h"
#include "tc/graph/replace_nodes.h"
#include "tc/lang/syntax/parse.h"

namespace tc::engine {
namespace {

/// A node of \p graph as a graph of its own.
graph::Graph alone(const graph::Graph& graph, const graph::Node& node) {
  graph::Graph result = graph;
  for (auto& tensor : result.tensors) tensor.role = lang::Role::Temporary;
  for (const auto tensor : node.inputs) result.tensors[tensor].role = lang::Role::Input;
  for (const auto tensor : node.outputs) result.tensors[tensor].role = lang::Role::Output;
  result.inputs = node.inputs;
  result.outputs = node.outputs;
  result.nodes = {node};
  return with_edges(std::move(result));
}

bool reduces(const graph::Node& node) {
  const auto& statements = node.def->def.statements;
  return std::any_of(statements.begin(), statements.end(), [](const auto& statement) {
    return !std::get<lang::Assignment>(statement.node).reduction_iterators.empty();
  });
}

bool begins_at_zero(const graph::Graph& graph, const graph::Node& node) {
  return std::all_of(node.outputs.begin(), node.outputs.end(), [&](auto tensor) {
    const auto& mins = graph.tensors[tensor].mins;
    return std::all_of(mins.begin(), mins.end(), [](auto min) { return min == 0; });
  });
}

/// A derived program and what it costs.
struct Derived {
  lang::Def def;
  DerivedNode report;
};

class NodeDerivations {
 public:
  NodeDerivations(const graph::Graph& graph, const CompileOptions& options) : graph_(graph), options_(options) {
    options_.partition = graph::Partition::One;
    options_.layouts = graph::LayoutMode::Off;
    options_.derive = 0;
    options_.unaligned.clear();
    for (const auto& constant : options.constants) constants_.insert(constant.name);
    options_.constants.clear();
    depth_ = options.derive;
  }

  /// The program that takes the place of \p node, the same for equal nodes; null where it stays.
  const Derived* of(const graph::Node& node) {
    TextStream key;
    key << node.def.get();
    for (const auto tensor : node.inputs)
      key << " " << graph_.tensors[tensor].spec << constants_.count(graph_.tensors[tensor].name);
    const auto [known, is_new] = known_.emplace(key.str(), std::nullopt);
    if (is_new && reduces(node) && begins_at_zero(graph_, node)) known->second = derive(node);
    return known->second ? &*known->second : nullptr;
  }

 private:
  std::optional<Derived> derive(const graph::Node& node) const {
    std::vector<TensorSpec> inputs;
    for (const auto tensor : node.inputs) inputs.push_back(graph_.tensors[tensor].spec);
    const auto before = price(alone(graph_, node));
    if (!before) return std::nullopt;
    try {
      const auto context = std::make_shared<polyhedral::Context>();
      const auto program = derive::from_def(*node.def, inputs, context);
      derive::Options search;
      search.depth = depth_;
      search.cancellation = options_.stages.cancellation;
      return cheapest(node, program, derive::derive(program, search).candidates, *before);
    } catch (const derive::Refusal&) {
      return std::nullopt;
    }
  }

  std::optional<Derived> cheapest(const graph::Node& node, const derive::Program& program,
                                  const std::vector<derive::Candidate>& candidates, double before) const {
    std::optional<Derived> best;
    double least = before / least_derived_gain;
    for (const auto& candidate : candidates) {
      if (candidate.steps.empty()) continue;
      auto text = derive::to_text(candidate.program);
      auto def = lang::parse(text, "<derived>").defs.front();
      const auto after = price(graph::replace_nodes(alone(graph_, node), {{0, def}}));
      if (!after || *after >= least) continue;
      least = *after;
      best = Derived{std::move(def), {name_of(node), {}, std::move(text), "", 1e6 * before, 1e6 * *after}};
      for (const auto& step : candidate.steps) best->report.rules.push_back(str(step.rule, ": ", step.what));
      best->report.certificate = derive::derivation_text(program, candidate.steps);
    }
    return best;
  }

  static std::string name_of(const graph::Node& node) { return node.callee.empty() ? node.def->def.name : node.callee; }

  /// Seconds of the parts of \p graph that run each time.
  std::optional<double> price(const graph::Graph& graph) const {
    graph::PartitionLimits limits;
    limits.apart = graph::constant_nodes(graph, constants_);
    double seconds = 0;
    for (const auto& part : graph::partition(graph, graph::Partition::Auto, limits)) {
      if (limits.apart.count(part.nodes.front())) continue;
      const auto own = price(graph, part);
      if (!own) return std::nullopt;
      seconds += *own;
    }
    return seconds;
  }
  std::optional<double> price(const graph::Graph& graph, const graph::Part& part) const {
    const auto def = graph::def_of(graph, part);
    auto function = std::make_shared<Function>();
    function->file = graph.defs->file;
    function->def = def->def;
    function->ranges = def->ranges;
    std::vector<TensorSpec> inputs;
    for (const auto tensor : part.inputs) inputs.push_back(graph.tensors[tensor].spec);
    return price_function(function, make_arguments(*function, inputs, {}), options_);
  }

  const graph::Graph& graph_;
  CompileOptions options_;
  int depth_ = 0;
  std::set<std::string> constants_;
  std::map<std::string, std::optional<Derived>> known_;
};

}  // namespace

int checked_derive(int depth) {
  if (depth < 0) throw OptionsError(str("derive is a number of rules, 0 for none, not ", depth));
  return depth;
}

std::optional<DerivedPlan> derive_nodes(const graph::Graph& graph, const CompileOptions& options) {
  if (options.derive == 0) return std::nullopt;
  NodeDerivations derivations(graph, options);
  std::map<std::size_t, lang::Def> by;
  DerivedPlan plan;
  std::set<const Derived*> told;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (const auto* derived = derivations.of(graph.nodes[n])) {
      by[n] = derived->def;
      if (told.insert(derived).second) plan.nodes.push_back(derived->report);
    }
  if (by.empty()) return std::nullopt;
  plan.graph = graph::replace_nodes(graph, by);
  return plan;
}

}  // namespace tc::engine
