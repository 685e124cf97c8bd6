#include "tc/engine/describe/timed_parts.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/engine/describe/roofline.h"
#include "tc/engine/graph/compile.h"
#include "tc/engine/graph/graph_plan.h"
#include "tc/engine/persistent.h"
#include "tc/lang/syntax/print.h"

namespace tc::engine {
namespace {

/// \p options for one part, with the mapping that the cache has for it.
CompileOptions options_of(const TimedPart& part, const CompileOptions& options) {
  auto how = options;
  how.constants.clear();
  how.fold_scales = false;
  how.layouts = graph::LayoutMode::Off;
  how.derive = 0;
  how.derivation.clear();
  how.mapping_from = MappingFrom::Cached;
  const auto arguments = make_arguments(*part.function, part.inputs, part.outputs);
  if (const auto found = find_mapping(*part.function, arguments, how)) how.mapping = *found;
  how.mapping_from = MappingFrom::Given;
  return how;
}

/// Is \p part own code? Then its seconds are measured.
bool measure(TimedPart& part, const CompileOptions& options) {
  const auto made = compile(part.function, part.inputs, part.outputs, options_of(part, options));
  if (!made->image().calls.empty()) return false;
  part.seconds = measure_seconds(*made);
  return true;
}

}  // namespace

std::vector<TimedPart> timed_parts(const std::shared_ptr<const Function>& function,
                                   const std::vector<TensorSpec>& inputs, const CompileOptions& options) {
  if (options.target.grid) throw OptionsError("the parts of a graph are timed on processors only");
  auto how = options;
  const auto arguments = make_arguments(*function, inputs, {}, how);
  std::vector<TimedPart> parts;
  if (const auto plan = plan_graph(function, arguments, how)) {
    std::vector<std::size_t> runs(plan->problems.size(), 0);
    for (std::size_t p = 0; p < plan->parts.size(); ++p)
      if (!plan->folded.count(p)) ++runs[plan->problem_of[p]];
    for (std::size_t i = 0; i < plan->problems.size(); ++i)
      if (const auto& problem = plan->problems[i]; runs[i] > 0)
        parts.push_back({problem.function, problem.inputs, problem.outputs, runs[i]});
  } else {
    parts.push_back({inlined(function), specs(arguments, false), specs(arguments, true), 1});
  }
  for (auto& part : parts) part.function = define(lang::print(part.function->def), "<part>").functions.front();
  std::erase_if(parts, [&](TimedPart& part) { return !measure(part, options); });
  std::stable_sort(parts.begin(), parts.end(), [](const TimedPart& a, const TimedPart& b) {
    return static_cast<double>(a.runs) * a.seconds > static_cast<double>(b.runs) * b.seconds;
  });
  return parts;
}

}  // namespace tc::engine
