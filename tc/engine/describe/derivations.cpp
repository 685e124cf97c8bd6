#include "tc/engine/describe/derivations.h"

#include <algorithm>
#include <map>
#include <set>

#include "tc/cpu/thread_pool.h"
#include "tc/derive/derivation_text.h"
#include "tc/derive/form/from_def.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/form/to_def.h"
#include "tc/engine/compile/derive_part.h"
#include "tc/engine/describe/predict_time.h"
#include "tc/lang/syntax/print.h"

namespace tc::engine {
namespace {

/// Microseconds of \p text by the model of explain(); 0 where it predicts nothing.
double predicted(const std::string& text, const std::vector<TensorSpec>& inputs, const CompileOptions& options) {
  try {
    const auto function = define(text, "<derived>").functions.front();
    const auto report = describe_work(function, make_arguments(*function, inputs, {}), options);
    return 1e6 * predict_seconds(report, options.target, cpu::num_threads());
  } catch (const CancelledError&) {
    throw;
  } catch (const Error&) {
    return 0;
  }
}

DerivedProgram program_of(const derive::Program& first, const derive::Candidate& candidate) {
  DerivedProgram result;
  result.text = derive::to_text(candidate.program);
  auto before = derive::to_text(first);
  for (const auto& step : candidate.steps) {
    auto after = derive::to_text(step.after);
    result.steps.push_back({step.rule, step.what, before, after});
    before = std::move(after);
  }
  result.certificate = derive::derivation_text(first, candidate.steps);
  result.microseconds = candidate.microseconds;
  return result;
}

/// The prices of all by one model: that of explain() where it tells one of each.
void set_prices(std::vector<DerivedProgram>& candidates, const std::vector<TensorSpec>& inputs,
                const CompileOptions& options) {
  std::vector<double> prices;
  for (const auto& candidate : candidates) prices.push_back(predicted(candidate.text, inputs, options));
  if (std::find(prices.begin(), prices.end(), 0.0) == prices.end())
    for (std::size_t c = 0; c < prices.size(); ++c) candidates[c].microseconds = prices[c];
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.microseconds < b.microseconds; });
}

/// Gives those of \p candidates, derived from \p first, that tuning measured these prices.
void set_measured(const std::string& first, const CompileOptions& options, std::vector<DerivedProgram>& candidates) {
  if (!options.cache) return;
  std::set<std::string> constants;
  for (const auto& constant : options.constants) constants.insert(constant.name);
  const auto found = cache::find_derivation(*options.cache, derivation_key(first, constants, options));
  if (!found) return;
  std::map<std::string, double> seconds;
  for (const auto& other : found->others) seconds[other.text] = other.seconds;
  for (auto& candidate : candidates) {
    const auto price = candidate.steps.empty() ? found->seconds : seconds[candidate.text];
    if (price <= 0) continue;
    candidate.microseconds = 1e6 * price;
    candidate.source = "measured";
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    const bool measured = a.source == "measured", other = b.source == "measured";
    return measured != other ? measured : a.microseconds < b.microseconds;
  });
}

}  // namespace

DerivedPrograms derive_programs(const std::shared_ptr<const Function>& function, const std::vector<TensorSpec>& inputs,
                                const derive::Options& search, const CompileOptions& options) {
  const auto whole = inlined(function);
  bind_inputs(*whole, inputs);
  DerivedPrograms result;
  try {
    const auto context = std::make_shared<polyhedral::Context>();
    const auto program = derive::from_def({whole->def, whole->ranges}, inputs, context);
    const auto derivation = derive::derive(program, search);
    result.statistics = derivation.statistics;
    for (const auto& candidate : derivation.candidates) result.candidates.push_back(program_of(program, candidate));
    set_prices(result.candidates, inputs, options);
    set_measured(derive::to_text(program), options, result.candidates);
  } catch (const derive::Refusal& refusal) {
    result.note = refusal.why;
    result.candidates.push_back({lang::print(whole->def), {}, "", 0, "model"});
    result.candidates.back().microseconds = predicted(result.candidates.back().text, inputs, options);
  }
  return result;
}

}  // namespace tc::engine
