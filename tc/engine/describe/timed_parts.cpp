#include "tc/engine/describe/timed_parts.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/engine/describe/roofline.h"
#include "tc/engine/graph/compile.h"
#include "tc/engine/graph/graph_plan.h"
#include "tc/engine/graph/part_problems.h"
#include "tc/lang/syntax/print.h"

namespace tc::engine {
namespace {

double seconds_of(const PartProblem& problem, const CompileOptions& options) {
  CompileOptions how;
  how.target = options.target;
  how.stages.cancellation = options.stages.cancellation;
  if (const auto price = price_problem(problem, how)) return *price;
  return measure_seconds(*compile(problem.function, problem.inputs, problem.outputs, how));
}

}  // namespace

std::vector<TimedPart> timed_parts(const std::shared_ptr<const Function>& function,
                                   const std::vector<TensorSpec>& inputs, const CompileOptions& options) {
  if (options.target.grid) throw OptionsError("the parts of a graph are tuned one by one on processors only");
  const auto arguments = make_arguments(*function, inputs, {}, options);
  std::vector<std::pair<PartProblem, std::size_t>> problems;
  if (const auto plan = plan_graph(function, arguments, options)) {
    for (const auto& problem : plan->problems) problems.emplace_back(problem, 0);
    for (std::size_t p = 0; p < plan->parts.size(); ++p)
      if (!plan->folded.count(p)) ++problems[plan->problem_of[p]].second;
  } else {
    problems.push_back({{inlined(function), specs(arguments, false), specs(arguments, true), {}}, 1});
  }
  std::vector<TimedPart> parts;
  for (auto& [problem, runs] : problems) {
    if (runs == 0) continue;
    problem.function = define(lang::print(problem.function->def), "<part>").functions.front();
    parts.push_back({problem.function, problem.inputs, problem.outputs, runs, seconds_of(problem, options)});
  }
  std::stable_sort(parts.begin(), parts.end(), [](const TimedPart& a, const TimedPart& b) {
    return static_cast<double>(a.runs) * a.seconds > static_cast<double>(b.runs) * b.seconds;
  });
  return parts;
}

}  // namespace tc::engine
