#pragma once

#include <memory>
#include <vector>

#include "tc/autotuner/evaluation.h"
#include "tc/autotuner/finals.h"
#include "tc/autotuner/search/search.h"
#include "tc/autotuner/tuner.h"
#include "tc/autotuner/worker/problem.h"

/// What the settings of a tuning mean for its parts.
namespace tc::autotuner {

/// Throws OptionsError for settings that mean nothing.
void check(const TuneSettings& settings);

/// What workers are told of a def, its arguments and the limits of a tuning.
Problem problem_of(const engine::Function& function, const std::vector<engine::Argument>& arguments,
                   const TuneSettings& settings);

/// The default options, those of the cache for these shapes, best here and best anywhere, and for the nearest ones, then
/// the user's.
std::vector<options::MappingOptions> starts_of(const engine::Function& function,
                                               const std::vector<engine::Argument>& arguments,
                                               const TuneSettings& settings);

/// \p space must outlive it.
std::unique_ptr<Search> make_search(const SearchSpace& space, const std::vector<options::MappingOptions>& starts,
                                    const TuneSettings& settings);

/// The interpreter's results, else those of the default options on a processor, go into the memory that \p workers share.
/// Throws CancelledError where \p stop ended it, ResourceError where \p name, the def, does not run.
void make_reference(Workers& workers, const TuneSettings& settings, const std::string& name, const Workers::Stop& stop);

/// Throws DeviceError and OptionsError as find_gpus() does.
EvaluationSettings evaluation_settings(const TuneSettings& settings);

/// Finals of what \p evaluation, with settings \p how, has compiled: measured for \p seconds at most, as \p settings say.
/// What is left to the caller: `time`, `incumbent`. Refers to \p evaluation.
FinalSettings final_settings(const Evaluation& evaluation, const EvaluationSettings& how, const TuneSettings& settings,
                             double seconds);

}  // namespace tc::autotuner
