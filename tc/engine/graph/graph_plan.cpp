#include "tc/engine/graph/graph_plan.h"

#include <algorithm>
#include <map>

#include "tc/base/str.h"
#include "tc/engine/graph/graph_derivations.h"
#include "tc/engine/graph/graph_layouts.h"
#include "tc/engine/graph/graph_stages.h"
#include "tc/engine/graph/part_problems.h"
#include "tc/graph/constant_nodes.h"

namespace tc::engine {
namespace {

/// A def of more statements is cut in parts, also where none of them is a call.
constexpr std::size_t most_statements = 16;

bool has_calls(const Function& function) { return function.defs && !is_call_free(function); }

/// Do \p options speak of \p function as one def, or is there no graph of it?
bool is_one(const Function& function, const CompileOptions& options) {
  const auto& mapping = options.mapping.values();
  const auto& replaced = options.stages.replace;
  return !function.defs ||
         std::any_of(replaced.begin(), replaced.end(),
                     [](const auto& entry) { return !is_graph_stage(entry.first); }) ||
         !mapping.parallel_along.empty() || !mapping.vector_along.empty() || !mapping.nest.empty();
}

/// How the nodes of \p function that are run, and those that are folded, are gathered.
graph::Partition partition_of(const Function& function, const CompileOptions& options) {
  const bool is_small = !has_calls(function) && function.def.statements.size() <= most_statements;
  return options.partition == graph::Partition::Auto && is_small ? graph::Partition::One : options.partition;
}

/// May a library take some nodes of \p function, and leave others?
bool may_call_libraries(const Function& function, const CompileOptions& options) {
  return options.libraries != "none" && options.symbolic.empty() && options.partition != graph::Partition::One &&
         (has_calls(function) || function.def.statements.size() > 1);
}

bool may_rewrite(const Function& function, const CompileOptions& options) {
  return options.partition != graph::Partition::One && options.symbolic.empty() &&
         (chooses_layouts(options) || options.derive > 0 || !options.derivation.empty() ||
          (rolls_maxima(options) && may_roll(function.def)));
}

/// How graph_stages() are run under \p options; dumps go to the folder `graph`, beside the folders of the parts.
StageOptions<GraphState> stage_options(const std::string& name, const CompileOptions& options) {
  const auto& given = options.stages;
  StageOptions<GraphState> result{given.verify, given.keep_text, given.keep_text_of};
  if (!given.dump_directory.empty()) result.dump_directory = str(given.dump_directory, "/", name, "/graph");
  for (const auto& [stage, text] : given.replace)
    if (is_graph_stage(stage)) result.replace[stage] = text;
  result.cancellation = given.cancellation;
  return result;
}

/// The different problems among the parts of \p state.
void gather_problems(GraphState& state) {
  auto& plan = state.plan;
  std::map<std::string, std::size_t> known;
  for (const auto& part : plan.parts) {
    const auto key = graph::key_of(plan.graph, part) + tensors_text(plan.graph, part, state.placed);
    const auto [entry, is_new] = known.emplace(key, plan.problems.size());
    if (is_new) plan.problems.push_back(problem_of(plan.graph, part, state.placed));
    plan.problem_of.push_back(entry->second);
  }
}

/// plan_graph() of a def that may become parts.
std::optional<GraphPlan> planned(const std::shared_ptr<const Function>& function,
                                 const std::vector<Argument>& arguments, const CompileOptions& options) {
  GraphState state{function, arguments, options, partition_of(*function, options),
                   may_call_libraries(*function, options)};
  auto& plan = state.plan;
  const auto how = stage_options(function->name(), options);
  plan.records = run_stages(graph_stages(), state, how);
  const bool is_asked = !how.replace.empty();
  if (state.is_one || (plan.parts.size() < 2 && plan.layouts.empty() && plan.derived.empty() && !is_asked))
    return std::nullopt;
  for (std::size_t p = 0; p < plan.parts.size(); ++p)
    if (state.limits.apart.count(plan.parts[p].nodes.front())) plan.folded.insert(p);
  gather_problems(state);
  return std::move(plan);
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
      !may_call_libraries(*function, options) && !may_rewrite(*function, options))
    return std::nullopt;
  return supervised(limits_of(options), "the compiler", [=](const Supervision& supervision) {
    auto how = options;
    how.stages.cancellation = supervision.cancellation();
    how.time_limit = 0;
    return planned(function, arguments, how);
  });
}

}  // namespace tc::engine
