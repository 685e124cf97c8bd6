#include "tc/engine/graph/symbolic_graph.h"

#include <algorithm>
#include <map>

#include "tc/base/fork.h"
#include "tc/base/str.h"
#include "tc/engine/graph/compile_graph.h"
#include "tc/engine/graph/symbolic_sizes.h"
#include "tc/graph/bind.h"
#include "tc/graph/drop_copies.h"

namespace tc::engine {
namespace {

using Shared = std::shared_ptr<const RangeGraph>;

/// The graphs that were compiled last, by cache_key() and the folder of the cache.
class RangeGraphs {
 public:
  Shared find(const std::string& key) {
    std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    if (found == known_.end()) return nullptr;
    found->second.asked = ++requests_;
    return found->second.graph;
  }
  void add(const std::string& key, const Shared& graph) {
    std::lock_guard lock(mutex_);
    known_[key] = {graph, ++requests_};
    if (known_.size() <= most) return;
    known_.erase(std::min_element(known_.begin(), known_.end(),
                                  [](const auto& a, const auto& b) { return a.second.asked < b.second.asked; }));
  }

 private:
  static constexpr std::size_t most = 128;
  struct Entry {
    Shared graph;
    std::uint64_t asked = 0;
  };
  ForkMutex mutex_;
  std::uint64_t requests_ = 0;
  std::map<std::string, Entry> known_;
};

RangeGraphs& range_graphs() {
  static auto& graphs = *new RangeGraphs;
  return graphs;
}

/// The inputs of a part that is problem number \p problem of \p plan.
std::vector<TensorSpec> inputs_of(const GraphPlan& plan, std::size_t problem) {
  const auto place = std::find(plan.problem_of.begin(), plan.problem_of.end(), problem) - plan.problem_of.begin();
  std::vector<TensorSpec> result;
  for (const auto tensor : plan.parts[static_cast<std::size_t>(place)].inputs)
    result.push_back(plan.graph.tensors[tensor].spec);
  return result;
}

}  // namespace

std::shared_ptr<const RangeGraph> compile_graph_for_ranges(const std::shared_ptr<const Function>& function,
                                                           const std::vector<TensorSpec>& inputs,
                                                           const CompileOptions& options, const CompileFor& compile_for,
                                                           bool keeps) {
  const auto arguments = make_arguments(*function, inputs, {}, options);
  const auto folder = options.cache ? options.cache->settings().folder : std::string();
  const auto key = str(cache_key(*function, arguments, options), "\ncache ", folder);
  if (auto known = keeps ? range_graphs().find(key) : nullptr) return known;
  auto plan = plan_graph(function, arguments, options);
  if (!plan) return nullptr;
  auto codes = compile_parts(*plan, options, [&](const PartProblem& problem, const CompileOptions& own) {
    return compile_for(problem.function, problem.inputs,
                       own.symbolic.empty() ? problem.outputs : std::vector<TensorSpec>(), own);
  });
  auto made = std::make_shared<RangeGraph>(RangeGraph{std::move(*plan), std::move(codes)});
  if (keeps) range_graphs().add(key, made);
  return made;
}

std::shared_ptr<const Executable> bind_graph_sizes(const RangeGraph& whole, const Function& function,
                                                   const std::vector<TensorSpec>& inputs,
                                                   const CompileOptions& options) {
  auto graph = graph::bind(function.defs, function.name(), inputs);
  auto plan = whole.plan;
  plan.begin = std::chrono::steady_clock::now();
  if (graph) plan.graph = graph::drop_copies(std::move(*graph));
  if (!graph || plan.graph.nodes.size() != whole.plan.graph.nodes.size())
    throw ArgumentError(str("'", function.name(), "' is another graph for these sizes"));
  std::vector<std::shared_ptr<const Executable>> bound;
  for (std::size_t i = 0; i < plan.problems.size(); ++i)
    bound.push_back(plan.problems[i].symbolic.empty()
                        ? whole.codes[i]
                        : bind_sizes(whole.codes[i], *plan.problems[i].function, inputs_of(plan, i)));
  return join_parts(function, make_arguments(function, inputs, {}), plan, options, bound);
}

}  // namespace tc::engine
