#include "tc/autotuner/tuner.h"

#include <algorithm>
#include <limits>

#include "tc/autotuner/candidate_ranking.h"
#include "tc/autotuner/checkpoint.h"
#include "tc/autotuner/evaluation.h"
#include "tc/autotuner/finals.h"
#include "tc/autotuner/record.h"
#include "tc/autotuner/set_up.h"
#include "tc/autotuner/winner.h"
#include "tc/autotuner/worker/problem.h"
#include "tc/autotuner/worker/worker_process.h"
#include "tc/base/clock.h"
#include "tc/base/log.h"
#include "tc/base/str.h"
#include "tc/cache/build_id.h"
#include "tc/cache/sha256.h"
#include "tc/engine/define/generic.h"
#include "tc/engine/machine/machine_kind.h"
#include "tc/engine/persistent.h"

namespace tc::autotuner {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int least_generation = 4;
constexpr double least_final_seconds = 0.2, cancelled_final_seconds = 0.5;
constexpr double cancelled_seconds = 1.5;               ///< for all of the finals, once tuning is cancelled
constexpr double laws_cost = 10;                        ///< times the limit of a compile, for one with all laws
constexpr double cancelled_finish = 1;                  ///< seconds for compiling the winner with all laws then
constexpr double finals_end = 1.15, finish_end = 1.35;  ///< times the budget
constexpr double least_finals = 1, least_finish = 1;    ///< seconds there are for either, however late it is
constexpr double least_compile = 0.5;                   ///< seconds for compiling a generation

/// One tuning.
class Tuner {
 public:
  Tuner(std::shared_ptr<const engine::Function> function, const std::vector<TensorView>& inputs,
        const std::vector<TensorSpec>& outputs, const TuneSettings& settings);
  TuneResult run();

 private:
  double elapsed() const { return now() - start_ + before_; }
  bool cancelled() const { return settings_.cancellation.requested(); }
  bool over() const { return cancelled() || (settings_.budget > 0 && elapsed() > settings_.budget - reserved()); }
  std::function<bool()> when_over() const {
    return [this] { return over(); };
  }
  std::function<bool()> when_cancelled() const {
    return [this] { return cancelled(); };
  }
  bool ranks() const { return settings_.ranking != Ranking::None; }
  /// Candidates, where their number is limited; the default options do not count.
  int left_to_try() const { return settings_.candidates + 1 - static_cast<int>(record_.candidates().size()); }
  int generation_size() const;
  double reserved() const;
  Progress clock() const;
  std::string identity() const;

  std::optional<Checkpoint> find_checkpoint() const;
  void resume(const Checkpoint& checkpoint);
  void save_checkpoint();
  void try_to_save_checkpoint();
  void measure_default();
  Candidate timed_default();
  std::optional<std::vector<Candidate>> next_generation();
  void predict(std::vector<Candidate>& candidates, const std::function<bool()>& stop);
  void tell(const std::vector<Candidate>& generation);
  FinalSettings final_settings() const;
  std::optional<std::vector<Finalist>> play_short_finals();
  double compile_seconds() const;
  double time_until(double budgets, double least) const;
  std::string image_of(const options::MappingOptions& options) const;
  Finish finish_settings();
  void choose();

  const TuneSettings& settings_;
  std::shared_ptr<const engine::Function> function_;
  std::vector<engine::Argument> arguments_;
  Layout layout_;
  SharedMemory memory_;
  std::vector<options::MappingOptions> starts_;
  SearchSpace space_;
  Workers workers_;
  std::unique_ptr<Search> search_;
  CandidateRanking ranking_;
  Record record_;
  EvaluationSettings how_;
  Evaluation evaluation_;
  TuneResult result_;
  std::optional<cache::OptionsEntry> incumbent_;  ///< what calls take
  double start_ = now(), before_ = 0, candidate_seconds_ = 0;
};

Tuner::Tuner(std::shared_ptr<const engine::Function> function, const std::vector<TensorView>& inputs,
             const std::vector<TensorSpec>& outputs, const TuneSettings& settings)
    : settings_(settings),
      function_(std::move(function)),
      arguments_(engine::make_arguments(*function_, {inputs.begin(), inputs.end()}, outputs)),
      layout_(layout_of(arguments_)),
      memory_(layout_.bytes),
      starts_(starts_of(*function_, arguments_, settings)),
      space_(*function_, arguments_, settings.target, starts_),
      workers_(settings.worker, memory_.file(), problem_of(*function_, arguments_, settings).message()),
      search_(make_search(
          space_, starts_, settings,
          [this](const auto& options) { return propose_nests(workers_, settings_, options, when_over()); })),
      ranking_(space_, settings.ranking, starts_),
      record_(settings.on_candidate, settings.on_progress),
      how_(evaluation_settings(settings)),
      evaluation_(workers_, record_, how_),
      incumbent_(entry_in_use(*function_, arguments_, settings)) {
  put_tensors(inputs, layout_, memory_.data());
}

TuneResult Tuner::run() {
  auto checkpoint = find_checkpoint();
  if (checkpoint) before_ = checkpoint->elapsed;
  make_reference(workers_, settings_, function_->name(), when_cancelled());
  measure_default();
  if (checkpoint) resume(*checkpoint);
  save_checkpoint();
  while (auto generation = next_generation()) {
    auto ended = [&](const Candidate& candidate) {
      auto copy = candidate;
      copy.at = elapsed();
      ranking_.learn(copy);
      record_.add(std::move(copy), clock());
    };
    evaluation_.limit_compiles(compile_seconds());
    auto measured = evaluation_.measure(*generation, ended, when_over());
    tell(measured);
    if (measured.size() == generation->size()) try_to_save_checkpoint();
  }
  choose();
  auto finish = finish_settings();
  result_.candidates = record_.take();
  keep_winner(function_, arguments_, settings_, incumbent_, finish, result_);
  result_.elapsed = elapsed();
  return std::move(result_);
}

/// Seconds of the budget that are for the finals.
double Tuner::reserved() const {
  double compiles = candidate_seconds_ * (settings_.finalists + 2);
  return std::min(most_reserved * settings_.budget, settings_.final_seconds + compiles);
}

/// Seconds for compiling a generation: half of what the search has left.
double Tuner::compile_seconds() const {
  if (settings_.budget <= 0) return infinity;
  return std::max(least_compile, (settings_.budget - reserved() - elapsed()) / 2);
}

/// Seconds until \p budgets times the budget are over, \p least where fewer; endless without a budget.
double Tuner::time_until(double budgets, double least) const {
  if (settings_.budget <= 0) return infinity;
  return std::max(least, budgets * settings_.budget - elapsed());
}

/// The time and the limits, as listeners are told them.
Progress Tuner::clock() const {
  Progress result;
  result.generation = result_.generations;
  result.elapsed = elapsed();
  result.budget = settings_.budget;
  result.candidates = settings_.candidates;
  return result;
}

/// Equal for tunings of which one can go on with the checkpoint of the other: times of other numbers of threads, or of
/// code of another build of the compiler, are of no use to it.
std::string Tuner::identity() const {
  auto key = cache::digest(engine::persistent_key(*function_, arguments_, settings_.target));
  auto how =
      str(static_cast<int>(settings_.search), " ", settings_.policy.name, " ", static_cast<int>(settings_.ranking), " ",
          settings_.seed, " ", settings_.genetic.population, " ", settings_.genetic.crossover_rate, " ",
          settings_.genetic.mutation_rate, " ", problem_of(*function_, arguments_, settings_).threads, " ",
          cache::compiler_build_id(), "\n", space_.text());
  return cache::hex(cache::sha256(cache::hex(key) + how));
}

/// The checkpoint of this tuning, nothing where there is none.
std::optional<Checkpoint> Tuner::find_checkpoint() const {
  if (settings_.checkpoint.empty()) return std::nullopt;
  auto found = load_checkpoint(settings_.checkpoint);
  return found && found->identity == identity() ? found : std::nullopt;
}

/// Goes on from \p checkpoint; the default options have been measured anew.
void Tuner::resume(const Checkpoint& checkpoint) {
  search_->restore(checkpoint.search);
  result_.generations = checkpoint.generation;
  for (const auto& candidate : checkpoint.candidates) {
    if (candidate.generation == 0) continue;
    ranking_.learn(candidate);
    record_.restore(candidate);
  }
}

void Tuner::save_checkpoint() {
  if (settings_.checkpoint.empty()) return;
  save({identity(), search_->state(), elapsed(), result_.generations, record_.candidates()}, settings_.checkpoint);
}

/// A disk that is full by now does not end a tuning that has begun.
void Tuner::try_to_save_checkpoint() {
  try {
    save_checkpoint();
  } catch (const ResourceError& error) {
    log(LogLevel::Warning, error.what());
  }
}

/// The default options, compiled and measured. Throws where they cannot be.
Candidate Tuner::timed_default() {
  double begin = now();
  auto measured = evaluation_.measure({Candidate()}, [](const Candidate&) {}, when_cancelled());
  candidate_seconds_ = now() - begin;
  if (measured.empty()) throw CancelledError("tuning was cancelled before the default options were measured");
  auto candidate = measured.front();
  if (candidate.status == Status::Wrong)
    throw InternalError(
        str("'", function_->name(), "' with the default options differs from its reference: ", candidate.note));
  if (candidate.status != Status::Ok)
    throw ResourceError(str("'", function_->name(), "' cannot be tuned: the default options fail (",
                            name(candidate.status), "): ", candidate.note));
  return candidate;
}

void Tuner::measure_default() {
  auto candidate = timed_default();
  std::vector<Candidate> one{candidate};
  predict(one, when_cancelled());
  candidate.predicted = one[0].predicted;
  candidate.at = elapsed() - before_;
  ranking_.learn(candidate);
  search_->tell({{candidate.options, candidate.seconds}});
  record_.add_default(std::move(candidate), clock());
}

/// Candidates of the next generation: as many as the limits leave room for, those of time by what the default options
/// took, since a generation that does not end was compiled in vain.
int Tuner::generation_size() const {
  int count = search_->generation(settings_.genetic.population);
  if (settings_.candidates > 0) count = std::min(count, left_to_try());
  if (settings_.budget <= 0 || candidate_seconds_ <= 0) return count;
  double fit = (settings_.budget - reserved() - elapsed()) / candidate_seconds_;
  return std::min<int>(count, std::max<int>(least_generation, static_cast<int>(std::min(fit, 1e6))));
}

/// What is measured next: of the candidates the search asks for, those that the model finds promising. Nothing, and
/// result_.stop says why, at the end.
std::optional<std::vector<Candidate>> Tuner::next_generation() {
  auto stop = [&](Stop why) {
    result_.stop = why;
    return std::nullopt;
  };
  if (cancelled()) return stop(Stop::Cancelled);
  if (over()) return stop(Stop::Budget);
  int count = generation_size();
  if (count <= 0) return stop(Stop::Candidates);
  auto batch = search_->ask(ranks() ? count * ranked_for_each : count);
  if (batch.empty() && !ranking_.has_passed_over()) return stop(Stop::Exhausted);
  ++result_.generations;
  std::vector<Candidate> asked;
  for (const auto& options : batch) {
    asked.push_back({.options = options});
    asked.back().predicted = search_->predicted(options);
  }
  predict(asked, when_over());
  auto chosen = ranking_.most_promising(std::move(asked), static_cast<std::size_t>(count));
  for (auto& candidate : chosen) candidate.generation = result_.generations;
  return chosen;
}

/// Fills in what the analytic model predicts, for machines that it is of.
void Tuner::predict(std::vector<Candidate>& candidates, const std::function<bool()>& stop) {
  if (ranks() && engine::machine_kind_of(settings_.target).no_model.empty()) evaluation_.predict(candidates, stop);
}

void Tuner::tell(const std::vector<Candidate>& generation) {
  std::vector<Trial> trials;
  for (const auto& candidate : generation)
    trials.push_back({candidate.options, candidate.usable() ? candidate.seconds : infinity});
  search_->tell(trials);
}

FinalSettings Tuner::final_settings() const {
  double left =
      settings_.budget > 0 ? std::max(least_final_seconds, settings_.budget - elapsed()) : settings_.final_seconds;
  auto how = autotuner::final_settings(evaluation_, how_, settings_, left);
  how.time = time_until(1, least_finals);
  if (incumbent_) how.incumbent = incumbent_->options;
  how.stop = [this, until = now() + time_until(finals_end, least_finals)] { return cancelled() || now() > until; };
  return how;
}

/// The finals of a tuning that was cancelled: short ones of the fastest and the default options; nothing where these
/// take too long.
std::optional<std::vector<Finalist>> Tuner::play_short_finals() {
  auto how = final_settings();
  how.finalists = 1;
  how.seconds = std::min(how.seconds, cancelled_final_seconds);
  how.stop = [until = now() + cancelled_seconds] { return now() > until; };
  return play_finals(workers_, record_.candidates(), how);
}

/// The finals, in the time that is left.
void Tuner::choose() {
  std::optional<std::vector<Finalist>> played;
  if (!cancelled()) played = play_finals(workers_, record_.candidates(), final_settings());
  if (!played && cancelled()) played = play_short_finals();
  if (cancelled()) result_.stop = Stop::Cancelled;
  auto incumbent = incumbent_ ? std::optional(incumbent_->options) : std::nullopt;
  result_.finalists = played ? std::move(*played) : unplayed_finals(record_.candidates(), incumbent);
  result_.standard = *std::find_if(result_.finalists.begin(), result_.finalists.end(),
                                   [](const auto& finalist) { return finalist.options == options::MappingOptions(); });
  result_.best = result_.finalists.front();
}

/// The machine code with which \p options were measured, "" where it is not kept.
std::string Tuner::image_of(const options::MappingOptions& options) const {
  for (const auto& candidate : result_.candidates)
    if (candidate.options == options) return evaluation_.image(candidate.code);
  return "";
}

Finish Tuner::finish_settings() {
  double most = laws_cost * settings_.compile_limit;
  double seconds = cancelled() ? cancelled_finish : std::min(most, time_until(finish_end, least_finish));
  auto stop = [this, until = now() + seconds, was_cancelled = cancelled()] {
    return now() > until || (cancelled() && !was_cancelled);
  };
  auto image = [this](const options::MappingOptions& options) { return image_of(options); };
  return {workers_, how_.devices.front(), {seconds, settings_.memory_limit}, stop, image};
}

}  // namespace

TuneResult tune(const std::shared_ptr<const engine::Function>& function, const std::vector<TensorView>& inputs,
                const std::vector<TensorSpec>& outputs, const TuneSettings& settings) {
  check(settings);
  const auto concrete = engine::instance_for(function, std::vector<TensorSpec>{inputs.begin(), inputs.end()});
  return Tuner(engine::inlined(concrete), inputs, outputs, settings).run();
}

}  // namespace tc::autotuner
