#include "tc/autotuner/tuner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "tc/autotuner/checkpoint.h"
#include "tc/autotuner/finals.h"
#include "tc/autotuner/problem.h"
#include "tc/autotuner/random_search.h"
#include "tc/autotuner/worker_process.h"
#include "tc/base/str.h"
#include "tc/cache/sha256.h"
#include "tc/cpu/thread_pool.h"
#include "tc/engine/persistent.h"

namespace tc::autotuner {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double most_reserved = 0.25;  ///< of the budget, for the finals

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
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

std::vector<TensorSpec> specs_of(const std::vector<TensorView>& views) {
  return {views.begin(), views.end()};
}

/// The default options, those of the cache for this or the nearest shapes, then the user's.
std::vector<options::MappingOptions> starts_of(const engine::Function& function,
                                               const std::vector<engine::Argument>& arguments,
                                               const TuneSettings& settings) {
  std::vector<options::MappingOptions> result{options::MappingOptions()};
  if (settings.cache) {
    auto key = engine::persistent_key(function, arguments, settings.target);
    if (auto best = settings.cache->best(key)) result.push_back(engine::with_names_of(function, best->options));
    if (auto nearest = settings.cache->nearest(key))
      result.push_back(engine::with_names_of(function, nearest->entry.options));
  }
  result.insert(result.end(), settings.starts.begin(), settings.starts.end());
  return result;
}

void check_settings(const TuneSettings& settings) {
  if (settings.target.is_cuda())
    throw OptionsError(
        str("tuning measures on a processor of this machine; the target is ", to_string(settings.target)));
  if (settings.budget <= 0 && settings.candidates <= 0)
    throw OptionsError("tuning needs a budget of seconds or a number of candidates");
  if (settings.worker.empty()) throw OptionsError("tuning needs the command of a worker process");
  if (settings.genetic.population < 1) throw OptionsError("the population must be at least 1");
}

/// One tuning.
class Tuner {
 public:
  Tuner(std::shared_ptr<const engine::Function> function, const std::vector<TensorView>& inputs,
        const std::vector<TensorSpec>& outputs, const TuneSettings& settings)
      : settings_(settings),
        function_(std::move(function)),
        arguments_(engine::make_arguments(*function_, specs_of(inputs), outputs)),
        layout_(layout_of(arguments_)),
        memory_(layout_.bytes),
        starts_(starts_of(*function_, arguments_, settings)),
        space_(*function_, arguments_, settings.target, starts_),
        workers_(settings.worker, memory_.file(), problem_of(*function_, arguments_, settings).message()) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto& part = layout_.parts[i];
      if (part.bytes)
        std::memcpy(memory_.data() + part.offset, static_cast<const char*>(inputs[i].data) - part.origin, part.bytes);
    }
    if (settings.method == Method::Genetic)
      search_ = std::make_unique<GeneticSearch>(space_, settings.seed, starts_, settings.genetic);
    else
      search_ = std::make_unique<RandomSearch>(space_, settings.seed, starts_);
  }

  TuneResult run() {
    resume();
    make_reference();
    measure_default();
    while (auto batch = next_batch()) {
      ++result_.generations;
      std::vector<Candidate> generation;
      bool whole = evaluate(*batch, generation);
      tell(generation);
      if (whole) save_checkpoint();
    }
    choose();
    keep();
    result_.elapsed = elapsed();
    return std::move(result_);
  }

 private:
  double elapsed() const { return now() - start_ + before_; }
  /// Seconds of the budget that are for the finals.
  double reserved() const {
    double compiles = 2 * compile_seconds_ * (settings_.finalists + 2);
    return std::min(most_reserved * settings_.budget, settings_.final_seconds + compiles);
  }
  bool cancelled() const { return settings_.cancellation.requested(); }
  bool over() const { return cancelled() || (settings_.budget > 0 && elapsed() > settings_.budget - reserved()); }
  std::function<bool()> when_over() const {
    return [this] { return over(); };
  }
  std::function<bool()> when_cancelled() const {
    return [this] { return cancelled(); };
  }
  Limits compile_limits() const { return {settings_.compile_limit, settings_.memory_limit}; }
  Limits run_limits() const { return {settings_.run_limit, settings_.memory_limit}; }
  int compilers() const { return settings_.compilers > 0 ? settings_.compilers : Target::host().cores; }

  std::string identity() const {
    auto key = cache::digest(engine::persistent_key(*function_, arguments_, settings_.target));
    auto how = str(static_cast<int>(settings_.method), " ", settings_.seed, " ", settings_.genetic.population, " ",
                   settings_.genetic.crossover_rate, " ", settings_.genetic.mutation_rate, "\n", space_.text());
    return cache::hex(cache::sha256(cache::hex(key) + how));
  }

  void resume();
  void save_checkpoint();
  void make_reference();
  void measure_default();
  std::optional<std::vector<options::MappingOptions>> next_batch();
  bool evaluate(const std::vector<options::MappingOptions>& batch, std::vector<Candidate>& generation);
  bool compile(std::vector<Candidate>& generation, std::vector<std::string>& images);
  bool measure(std::vector<Candidate>& generation, const std::vector<std::string>& images);
  void tell(const std::vector<Candidate>& generation);
  void record(Candidate candidate);
  void report();
  void choose();
  void keep();

  const TuneSettings& settings_;
  std::shared_ptr<const engine::Function> function_;
  std::vector<engine::Argument> arguments_;
  Layout layout_;
  SharedMemory memory_;
  std::vector<options::MappingOptions> starts_;
  SearchSpace space_;
  Workers workers_;
  std::unique_ptr<Search> search_;
  TuneResult result_;
  Progress progress_;
  std::map<std::string, Candidate> measured_;  ///< by code
  double start_ = now(), before_ = 0, best_ = 0, compile_seconds_ = 0;
};

void Tuner::resume() {
  if (settings_.checkpoint.empty()) return;
  auto found = load_checkpoint(settings_.checkpoint);
  if (!found || found->identity != identity()) return;
  search_->restore(found->search);
  before_ = found->elapsed;
  result_.generations = found->generation;
  for (const auto& candidate : found->candidates)
    if (candidate.generation > 0) record(candidate);
}

void Tuner::save_checkpoint() {
  if (settings_.checkpoint.empty()) return;
  save({identity(), search_->state(), elapsed(), result_.generations, result_.candidates}, settings_.checkpoint);
}

/// The interpreter's results, else those of the default options, go into the shared memory.
void Tuner::make_reference() {
  auto interpreted =
      workers_.run({"reference", "", "1"}, {settings_.interpret_limit, settings_.memory_limit}, when_cancelled());
  if (interpreted && interpreted->front() == name(Status::Ok)) return;
  Limits limits{settings_.compile_limit + settings_.run_limit, settings_.memory_limit};
  auto made = workers_.run({"reference", "", "0"}, limits, when_cancelled());
  if (!made) throw CancelledError("tuning was cancelled before the default options had run");
  if (made->front() != name(Status::Ok))
    throw ResourceError(
        str("'", function_->name(), "' cannot be tuned: it does not run with the default options: ", made->back()));
}

void Tuner::measure_default() {
  std::vector<Candidate> first(1);
  std::vector<std::string> images(1);
  double begin = now();
  auto compiled = workers_.run({"compile", ""}, compile_limits(), when_cancelled());
  compile_seconds_ = now() - begin;
  std::optional<Message> timed;
  if (compiled && compiled->front() == name(Status::Ok))
    timed = workers_.run({"measure", compiled->at(1), "0", exact_text(settings_.measure_seconds)}, run_limits(),
                         when_cancelled());
  if (!compiled || (compiled->front() == name(Status::Ok) && !timed))
    throw CancelledError("tuning was cancelled before the default options were measured");
  if (timed && timed->front() == name(Status::Wrong))
    throw InternalError(
        str("'", function_->name(), "' with the default options differs from its reference: ", timed->back()));
  if (!timed || timed->front() != name(Status::Ok))
    throw ResourceError(str("'", function_->name(), "' cannot be tuned: the default options fail (",
                            timed ? timed->front() : compiled->front(),
                            "): ", timed ? timed->back() : compiled->back()));
  Candidate candidate;
  candidate.status = Status::Ok;
  candidate.seconds = exact_number(timed->at(1));
  candidate.spread = exact_number(timed->at(2));
  candidate.code = compiled->at(2);
  progress_.default_seconds = candidate.seconds;
  result_.candidates.insert(result_.candidates.begin(), candidate);
  measured_.insert_or_assign(candidate.code, candidate);
  best_ = best_ > 0 ? std::min(best_, candidate.seconds) : candidate.seconds;
  search_->tell({{candidate.options, candidate.seconds}});
  if (settings_.on_candidate) settings_.on_candidate(candidate);
  report();
}

std::optional<std::vector<options::MappingOptions>> Tuner::next_batch() {
  auto stop = [&](Stop why) {
    result_.stop = why;
    return std::nullopt;
  };
  if (cancelled()) return stop(Stop::Cancelled);
  if (over()) return stop(Stop::Budget);
  int count = settings_.genetic.population;
  if (settings_.candidates > 0)
    count = std::min(count, settings_.candidates - static_cast<int>(result_.candidates.size()) + 1);
  if (count <= 0) return stop(Stop::Candidates);
  auto batch = search_->ask(count);
  if (batch.empty()) return stop(Stop::Exhausted);
  return batch;
}

bool Tuner::evaluate(const std::vector<options::MappingOptions>& batch, std::vector<Candidate>& generation) {
  for (const auto& options : batch) {
    Candidate candidate;
    candidate.options = options;
    candidate.generation = result_.generations;
    generation.push_back(candidate);
  }
  std::vector<std::string> images(batch.size());
  return compile(generation, images) && measure(generation, images);
}

/// The compile queue: images of the candidates. Failures are recorded.
bool Tuner::compile(std::vector<Candidate>& generation, std::vector<std::string>& images) {
  std::vector<Message> jobs;
  for (const auto& candidate : generation) jobs.push_back({"compile", candidate.options.to_text()});
  auto done = [&](std::size_t i, const Message& reply) {
    auto& candidate = generation[i];
    candidate.status = parse_status(reply.front());
    candidate.at = elapsed();
    if (candidate.status == Status::Ok && reply.size() == 3) {
      images[i] = reply[1];
      candidate.code = reply[2];
      return;
    }
    candidate.note = reply.back();
    record(candidate);
  };
  return workers_.run(jobs, compile_limits(), compilers(), done, when_over());
}

/// The profile queue: one candidate at a time, code that was measured before not again.
bool Tuner::measure(std::vector<Candidate>& generation, const std::vector<std::string>& images) {
  for (std::size_t i = 0; i < generation.size(); ++i) {
    auto& candidate = generation[i];
    if (images[i].empty()) continue;
    if (auto known = measured_.find(candidate.code); known != measured_.end()) {
      auto options = candidate.options;
      candidate = known->second;
      candidate.options = options;
      candidate.generation = result_.generations;
      if (candidate.status == Status::Ok) candidate.status = Status::Same;
    } else {
      Message job{"measure", images[i], exact_text(best_), exact_text(settings_.measure_seconds)};
      auto reply = workers_.run(job, run_limits(), when_over());
      if (!reply) {
        generation.resize(i);
        return false;
      }
      candidate.status = parse_status(reply->front());
      bool timed = candidate.status == Status::Ok || candidate.status == Status::Slow;
      if (timed) candidate.seconds = exact_number(reply->at(1));
      if (candidate.status == Status::Ok) candidate.spread = exact_number(reply->at(2));
      if (!timed) candidate.note = reply->back();
    }
    candidate.at = elapsed();
    record(candidate);
  }
  return true;
}

void Tuner::tell(const std::vector<Candidate>& generation) {
  std::vector<Trial> trials;
  for (const auto& candidate : generation)
    trials.push_back({candidate.options, candidate.usable() ? candidate.seconds : infinity});
  search_->tell(trials);
}

void Tuner::record(Candidate candidate) {
  if (candidate.usable()) best_ = best_ > 0 ? std::min(best_, candidate.seconds) : candidate.seconds;
  if (!candidate.code.empty() && candidate.status != Status::Same) measured_.emplace(candidate.code, candidate);
  ++progress_.tried;
  progress_.usable += candidate.usable();
  progress_.same += candidate.status == Status::Same;
  progress_.slow += candidate.status == Status::Slow;
  progress_.failed += !candidate.usable() && candidate.status != Status::Slow;
  if (settings_.on_candidate) settings_.on_candidate(candidate);
  result_.candidates.push_back(std::move(candidate));
  report();
}

void Tuner::report() {
  if (!settings_.on_progress) return;
  progress_.generation = result_.generations;
  progress_.best_seconds = best_;
  progress_.elapsed = elapsed();
  progress_.budget = settings_.budget;
  progress_.candidates = settings_.candidates;
  std::vector<double> times;
  for (const auto& candidate : result_.candidates)
    if (candidate.usable() && candidate.generation == result_.generations) times.push_back(candidate.seconds);
  std::sort(times.begin(), times.end());
  if (!times.empty()) progress_.median_seconds = times[times.size() / 2];
  settings_.on_progress(progress_);
}

void Tuner::choose() {
  double left = settings_.budget > 0 ? std::max(0.2, settings_.budget - elapsed()) : settings_.final_seconds;
  FinalSettings how{settings_.finalists, std::min(left, settings_.final_seconds), compilers(), compile_limits(),
                    run_limits()};
  how.limits.seconds += 8 * how.seconds;
  if (cancelled()) how.seconds = std::min(how.seconds, 0.5);
  result_.finalists = play_finals(workers_, result_.candidates, how);
  result_.standard = *std::find_if(result_.finalists.begin(), result_.finalists.end(),
                                   [](const auto& finalist) { return finalist.options == options::MappingOptions(); });
  result_.best = result_.finalists.front();
}

/// Compiles the winner with all laws and puts its options, and the code, into the cache.
void Tuner::keep() {
  engine::CompileOptions how;
  how.target = settings_.target;
  how.cache = settings_.cache;
  how.stages.verify = true;
  for (const auto& finalist : {result_.best, result_.standard}) try {
      how.mapping = finalist.options;
      result_.executable = engine::load_or_compile(function_, arguments_, how);
      result_.best = finalist;
      break;
    } catch (const Error&) {
      if (finalist.options == result_.standard.options) throw;
    }
  if (!settings_.cache || !settings_.cache->settings().writable || result_.best.runs == 0) return;
  auto entry = engine::options_entry(*function_, arguments_, settings_.target, result_.best.options);
  auto measured = cache::measurement_here();
  measured.median_ns = result_.best.seconds * 1e9;
  measured.least_ns = result_.best.least * 1e9;
  measured.spread_ns = result_.best.spread * 1e9;
  measured.runs = result_.best.runs;
  measured.checked = true;
  measured.threads = settings_.threads > 0 ? settings_.threads : cpu::num_threads();
  entry.measured = measured;
  entry.note = str("tuned: ", result_.candidates.size(), " candidates, seed ", settings_.seed);
  result_.kept = settings_.cache->put(entry);
}

}  // namespace

Method parse_method(std::string_view text) {
  if (text == "genetic") return Method::Genetic;
  if (text == "random") return Method::Random;
  throw OptionsError(str("there is no search '", text, "'; there are genetic and random"));
}

TuneResult tune(const std::shared_ptr<const engine::Function>& function, const std::vector<TensorView>& inputs,
                const std::vector<TensorSpec>& outputs, const TuneSettings& settings) {
  check_settings(settings);
  return Tuner(function, inputs, outputs, settings).run();
}

}  // namespace tc::autotuner
