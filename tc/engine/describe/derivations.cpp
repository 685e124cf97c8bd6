#include "tc/engine/describe/derivations.h"

#include <algorithm>
#include <map>
#include <set>

#include "tc/derive/derivation_text.h"
#include "tc/derive/form/from_def.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/form/to_def.h"
#include "tc/derive/rules/roll.h"
#include "tc/engine/graph/derive_part.h"
#include "tc/graph/new_defs.h"
#include "tc/lang/syntax/print.h"

namespace tc::engine {
namespace {

/// Prices of a def and of what is derived from it, as compiles with options.derive tell them.
class Prices {
 public:
  Prices(const Function& whole, const std::vector<TensorSpec>& inputs, const CompileOptions& options)
      : derivations_(options),
        function_(define(lang::print(whole.def), "<derived>").functions.front()),
        graph_(graph::graph_of_call(function_->defs, function_->name(), inputs)) {}

  /// Microseconds of \p candidate; 0 where no model prices it.
  double operator()(const DerivedProgram& candidate) const try {
    const auto part = graph::make_part(graph_, {0});
    return 1e6 * (candidate.steps.empty() ? derivations_.seconds_of(graph_, part)
                                          : derivations_.seconds_of(graph_, part, candidate.text))
                     .value_or(0);
  } catch (const CancelledError&) {
    throw;
  } catch (const Error&) {
    return 0;
  }

 private:
  PartDerivations derivations_;
  std::shared_ptr<const Function> function_;
  graph::Graph graph_;
};

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

/// The prices of all by one model: \p price where it tells one of each.
void set_prices(std::vector<DerivedProgram>& candidates, const Prices& price) {
  std::vector<double> prices;
  for (const auto& candidate : candidates) prices.push_back(price(candidate));
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

/// The candidate in which a maximum and its sums of exponentials are rolled, in blocks of size \p block; a note where there is none.
void add_rolled(const derive::Program& program, const derive::BlockSize& block, const Prices& price,
                DerivedPrograms& result) try {
  const auto steps = derive::roll(program, block);
  if (const auto why = derive::broken_step(program, steps); !why.empty()) throw derive::Refusal{"not proved: " + why};
  auto rolled = program_of(program, {steps.back().after, steps, 0});
  rolled.microseconds = price(rolled);
  const auto dearer = [&](const auto& other) {
    return rolled.microseconds > 0 && other.microseconds > rolled.microseconds;
  };
  const auto place = std::find_if(result.candidates.begin(), result.candidates.end(), dearer);
  result.candidates.insert(place, std::move(rolled));
} catch (const derive::Refusal& refusal) {
  result.note = refusal.why;
}

/// derive_programs() without limits but those that \p options cancel by.
DerivedPrograms derived(const std::shared_ptr<const Function>& function, const std::vector<TensorSpec>& inputs,
                        const derive::Options& search, const CompileOptions& options) {
  const auto whole = inlined(function);
  bind_inputs(*whole, inputs);
  DerivedPrograms result;
  const Prices price(*whole, inputs, options);
  try {
    const auto context = std::make_shared<polyhedral::Context>();
    const auto program = derive::from_def({whole->def, whole->ranges}, inputs, context);
    auto how = search;
    how.cancellation = options.stages.cancellation;
    how.rates = search_rates(options);
    for (const auto& constant : options.constants) how.constants.insert(constant.name);
    const auto derivation = derive::derive(program, how);
    result.statistics = derivation.statistics;
    for (const auto& candidate : derivation.candidates) result.candidates.push_back(program_of(program, candidate));
    set_prices(result.candidates, price);
    set_measured(derive::to_text(program), options, result.candidates);
    const bool pads = options.target.grid.has_value();
    if (search.roll > 0) add_rolled(program, {.most = search.roll, .padded = pads}, price, result);
  } catch (const derive::Refusal& refusal) {
    result.note = refusal.why;
    result.candidates.push_back({lang::print(whole->def), {}, "", 0, "model"});
    result.candidates.back().microseconds = price(result.candidates.back());
  }
  return result;
}

}  // namespace

DerivedPrograms derive_programs(const std::shared_ptr<const Function>& function, const std::vector<TensorSpec>& inputs,
                                const derive::Options& search, const CompileOptions& options) {
  return supervised(limits_of(options), "a derivation", [=](const Supervision& supervision) {
    auto how = options;
    how.stages.cancellation = supervision.cancellation();
    how.time_limit = 0;
    return derived(function, inputs, search, how);
  });
}

}  // namespace tc::engine
