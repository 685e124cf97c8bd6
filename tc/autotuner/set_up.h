#pragma once

#include <memory>
#include <vector>

#include "tc/autotuner/evaluation.h"
#include "tc/autotuner/finals.h"
#include "tc/autotuner/search/price_search.h"
#include "tc/autotuner/tuner.h"
#include "tc/autotuner/worker/problem.h"

/// What the settings of a tuning mean for its parts.
namespace tc::autotuner {

/// Throws OptionsError for invalid settings.
void check(const TuneSettings& settings);

/// The description of a def, its arguments and the limits of a tuning for workers.
Problem problem_of(const engine::Function& function, const std::vector<engine::Argument>& arguments,
                   const TuneSettings& settings);

/// The default options, the options of the cache for these shapes (best here and best anywhere) and for the nearest
/// shapes, then the user's.
std::vector<options::MappingOptions> starts_of(const engine::Function& function,
                                               const std::vector<engine::Argument>& arguments,
                                               const TuneSettings& settings);

/// \p space must outlive it. \p propose proposes nests to a search by price.
std::unique_ptr<Search> make_search(const SearchSpace& space, const std::vector<options::MappingOptions>& starts,
                                    const TuneSettings& settings, PriceSearch::Propose propose);

/// The nests that a worker of \p workers proposes; none if that fails, or \p stop ended it.
std::vector<engine::NestCandidate> propose_nests(Workers& workers, const TuneSettings& settings,
                                                 const options::MappingOptions& options, const Workers::Stop& stop);

/// Stores the interpreter's results, or else the results of the default options on a processor, in the shared memory
/// of \p workers. Throws CancelledError if \p stop ended it, ResourceError if \p name, the def, does not run.
void make_reference(Workers& workers, const TuneSettings& settings, const std::string& name, const Workers::Stop& stop);

/// Throws DeviceError and OptionsError as find_gpus() does.
EvaluationSettings evaluation_settings(const TuneSettings& settings);

/// Settings of finals for the code that \p evaluation, with settings \p how, has compiled: measured for at most \p
/// seconds, according to \p settings. The caller sets `time` and `incumbent`. Refers to \p evaluation.
FinalSettings final_settings(const Evaluation& evaluation, const EvaluationSettings& how, const TuneSettings& settings,
                             double seconds);

}  // namespace tc::autotuner
