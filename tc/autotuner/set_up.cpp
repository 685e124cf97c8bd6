#include "tc/autotuner/set_up.h"

#include "tc/autotuner/search/random_search.h"
#include "tc/autotuner/worker/device.h"
#include "tc/autotuner/worker/jobs.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cpu/thread_pool.h"
#include "tc/engine/machine/machine_kind.h"
#include "tc/engine/persistent.h"

namespace tc::autotuner {
namespace {

/// Of which a search by price chooses what is measured: as many as a search by prices alone prices in a few milliseconds.
constexpr int nests_of_a_cluster = 300;

/// Throws OptionsError unless \p value is a number of seconds.
void check_seconds(double value, const char* what) {
  if (!(value > 0)) throw OptionsError(str("the seconds for ", what, " must be more than 0; they are ", value));
}

/// Limits of a candidate that runs. Drivers of GPUs map far more memory than they use.
Limits run_limits(const TuneSettings& settings) {
  return {settings.run_limit, engine::machine_kind_of(settings.target).own_memory ? 0 : settings.memory_limit};
}

}  // namespace

void check(const TuneSettings& settings) {
  if (!(settings.budget >= 0) || settings.candidates < 0)
    throw OptionsError(str("a budget of ", settings.budget, " seconds and ", settings.candidates,
                           " candidates means nothing: give numbers from 0 (no limit) on"));
  if (settings.budget == 0 && settings.candidates == 0)
    throw OptionsError("tuning needs a budget of seconds or a number of candidates");
  if (settings.worker.empty()) throw OptionsError("tuning needs the command of a worker process");
  if (settings.genetic.population < 1) throw OptionsError("the population must be at least 1");
  if (settings.threads < 0 || settings.compilers < 0 || settings.finalists < 0)
    throw OptionsError("threads, compilers and finalists must be 0 or more");
  if (settings.search == SearchKind::Policy && !settings.policy.make)
    throw OptionsError("a search by a policy needs the policy");
  check_seconds(settings.compile_limit, "compiling a candidate");
  check_seconds(settings.run_limit, "running a candidate");
  check_seconds(settings.measure_seconds, "timing a candidate");
  check_seconds(settings.interpret_limit, "the interpreter");
  check_seconds(settings.final_seconds, "the finals");
}

EvaluationSettings evaluation_settings(const TuneSettings& settings) {
  EvaluationSettings result;
  result.compilers = settings.compilers > 0 ? settings.compilers : Target::host().cores;
  if (engine::machine_kind_of(settings.target).own_memory)
    result.devices = find_gpus(settings.target, settings.devices);
  result.measure_seconds = settings.measure_seconds;
  result.compile = {settings.compile_limit, settings.memory_limit};
  result.run = run_limits(settings);
  result.images = static_cast<std::size_t>(settings.finalists) + 1;
  return result;
}

Problem problem_of(const engine::Function& function, const std::vector<engine::Argument>& arguments,
                   const TuneSettings& settings) {
  return {function.file->text,
          function.name(),
          engine::specs(arguments, false),
          engine::specs(arguments, true),
          to_string(settings.target),
          settings.threads > 0 ? settings.threads : cpu::num_threads()};
}

std::vector<options::MappingOptions> starts_of(const engine::Function& function,
                                               const std::vector<engine::Argument>& arguments,
                                               const TuneSettings& settings) {
  std::vector<options::MappingOptions> result{options::MappingOptions()};
  if (settings.cache) {
    auto key = engine::persistent_key(function, arguments, settings.target);
    auto here = engine::circumstances_here(settings.target);
    if (here.threads > 0 && settings.threads > 0) here.threads = settings.threads;
    for (const auto& where : {here, cache::Circumstances()})
      if (auto best = settings.cache->best(key, where))
        result.push_back(engine::with_names_of(function, best->options));
    if (auto nearest = settings.cache->nearest(key, here))
      result.push_back(engine::with_names_of(function, nearest->entry.options).with_nest(""));
  }
  result.insert(result.end(), settings.starts.begin(), settings.starts.end());
  return result;
}

void make_reference(Workers& workers, const TuneSettings& settings, const std::string& name,
                    const Workers::Stop& stop) {
  auto interpreted =
      workers.run(Message{"reference", "interpreted"}, {settings.interpret_limit, settings.memory_limit}, no_gpu, stop);
  if (interpreted && interpreted->front() == autotuner::name(Status::Ok)) return;
  Limits limits{settings.compile_limit + settings.run_limit, settings.memory_limit};
  auto made = workers.run(Message{"reference", "compiled"}, limits, no_gpu, stop);
  if (!made) throw CancelledError("tuning was cancelled before the default options had run");
  if (made->front() != autotuner::name(Status::Ok))
    throw ResourceError(str("'", name, "' cannot be tuned: it does not run with the default options: ", made->back()));
}

std::unique_ptr<Search> make_search(const SearchSpace& space, const std::vector<options::MappingOptions>& starts,
                                    const TuneSettings& settings, PriceSearch::Propose propose) {
  if (settings.search == SearchKind::Price)
    return std::make_unique<PriceSearch>(std::move(propose), starts, settings.prices);
  if (settings.search == SearchKind::Policy)
    return std::make_unique<PolicySearch>([&] { return settings.policy.make(space); }, starts);
  if (settings.search == SearchKind::Random) return std::make_unique<RandomSearch>(space, settings.seed, starts);
  return std::make_unique<GeneticSearch>(space, settings.seed, starts, settings.genetic);
}

std::vector<engine::NestCandidate> propose_nests(Workers& workers, const TuneSettings& settings,
                                                 const options::MappingOptions& options, const Workers::Stop& stop) {
  const auto reply = workers.run(Message{"nests", options.to_text(), str(nests_of_a_cluster)},
                                 {settings.compile_limit, settings.memory_limit}, no_gpu, stop);
  return reply && reply->front() == autotuner::name(Status::Ok) ? nests_of(reply->at(1))
                                                                : std::vector<engine::NestCandidate>();
}

FinalSettings final_settings(const Evaluation& evaluation, const EvaluationSettings& how, const TuneSettings& settings,
                             double seconds) {
  FinalSettings result;
  result.finalists = settings.finalists;
  result.seconds = std::min(seconds, settings.final_seconds);
  result.image = [&evaluation](const Candidate& candidate) { return evaluation.image(candidate.code); };
  result.compilers = how.compilers;
  result.device = how.devices.front();
  result.compile = how.compile;
  result.limits = how.run;
  result.limits.seconds += 8 * result.seconds;
  return result;
}

}  // namespace tc::autotuner
