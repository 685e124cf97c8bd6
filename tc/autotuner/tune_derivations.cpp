#include "tc/autotuner/tune_derivations.h"

#include <algorithm>
#include <limits>

#include "tc/autotuner/evaluation.h"
#include "tc/autotuner/finals.h"
#include "tc/autotuner/record.h"
#include "tc/autotuner/set_up.h"
#include "tc/autotuner/worker/problem.h"
#include "tc/autotuner/worker/sample.h"
#include "tc/base/clock.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/graph/graph_derivations.h"
#include "tc/lang/syntax/print.h"

namespace tc::autotuner {
namespace {

constexpr double compiling_share = 0.6;  ///< of the rest, after which what is not compiled is given up
constexpr double endless = std::numeric_limits<double>::infinity();

/// Measures the programs of one part.
class PartTuner {
 public:
  /// Until \p end, on the steady clock.
  PartTuner(const engine::DerivablePart& part, const TuneSettings& settings, double end)
      : part_(part),
        settings_(settings),
        end_(end),
        function_(engine::define(lang::print(part.def->def), "<part>").functions.front()),
        arguments_(engine::make_arguments(*function_, part.inputs, {})),
        layout_(layout_of(arguments_)),
        memory_(layout_.bytes),
        workers_(settings.worker, memory_.file(), problem().message()),
        record_(settings.on_candidate, nullptr),
        how_(evaluation_settings(settings)),
        evaluation_(workers_, record_, how_) {
    put_tensors(SampleTensors(*function_, part.inputs, settings.seed).views(), layout_, memory_.data());
  }

  TunedPart run() {
    make_reference(workers_, settings_, part_.name, [this] { return settings_.cancellation.requested(); });
    measure();
    const auto finals = play_finals(workers_, record_.candidates(), final_settings());
    auto result = tuned(finals ? *finals : unplayed_finals(record_.candidates()));
    const bool decided = finals && !finals->empty() && finals->front().runs > 0;
    if (!decided) result.best = 0;
    if (decided && has_tried_cheapest() && settings_.cache)
      result.kept = cache::keep_derivation(*settings_.cache, prices(result));
    return result;
  }

 private:
  Problem problem() const {
    auto result = problem_of(*function_, arguments_, settings_);
    result.libraries = part_.key.libraries;
    result.constants.assign(part_.key.constants.begin(), part_.key.constants.end());
    return result;
  }

  /// The part's candidate with derivation \p certificate; null where there was no time for it.
  const Candidate* tried(const std::string& certificate) const {
    for (const auto& candidate : record_.candidates())
      if (candidate.derivation == certificate) return &candidate;
    return nullptr;
  }
  /// Has that been tried which the model would take?
  bool has_tried_cheapest() const { return part_.programs.empty() || tried(part_.programs.front().certificate); }

  bool over(double end) const { return settings_.cancellation.requested() || now() > end; }

  /// The part as it is written, then all programs.
  void measure() {
    const double search_end = end_ == endless ? endless : end_ - most_reserved * std::max(0.0, end_ - now());
    auto written = evaluation_.measure({Candidate()}, [](const Candidate&) {}, [this] { return over(endless); });
    if (written.empty()) throw CancelledError("tuning was cancelled before the default options were measured");
    if (!written.front().usable())
      throw ResourceError(str("'", part_.name, "' cannot be tuned as it is written: ", written.front().note));
    written.front().predicted = part_.seconds;
    record_.add_default(written.front(), {});
    std::vector<Candidate> candidates;
    for (const auto& program : part_.programs) {
      Candidate candidate;
      candidate.derivation = program.certificate;
      candidate.predicted = program.seconds;
      candidate.generation = 1;
      candidates.push_back(std::move(candidate));
    }
    if (search_end < endless) evaluation_.limit_compiles(std::max(0.0, search_end - now()) * compiling_share);
    evaluation_.measure(
        std::move(candidates), [this](const Candidate& each) { record_.add(each, {}); },
        [this, search_end] { return over(search_end); });
  }

  FinalSettings final_settings() const {
    const double left = std::max(0.0, end_ - now());
    auto how = autotuner::final_settings(evaluation_, how_, settings_, left);
    how.time = std::max(left, settings_.final_seconds);
    how.stop = [this] { return settings_.cancellation.requested(); };
    return how;
  }

  TunedPart tuned(const std::vector<Finalist>& finals) const {
    TunedPart result{part_.name, {}, 0, false};
    result.programs.push_back({{lang::print(function_->def), "", {}, part_.seconds}, {}, 0});
    for (const auto& program : part_.programs) result.programs.push_back({program, {}, 0});
    for (std::size_t p = 0; p < result.programs.size(); ++p) {
      auto& program = result.programs[p];
      if (const auto* candidate = tried(program.program.certificate)) {
        program.measured = *candidate;
      } else {
        program.measured.status = Status::TimedOut;
        program.measured.note = "there was no time for it";
      }
      if (program.measured.usable()) program.seconds = program.measured.seconds;
      for (const auto& finalist : finals)
        if (finalist.derivation == program.program.certificate) program.seconds = finalist.seconds;
      if (finals.front().derivation == program.program.certificate) result.best = p;
    }
    return result;
  }

  cache::MeasuredDerivation prices(const TunedPart& tuned) const {
    cache::MeasuredDerivation result{part_.key, tuned.programs.front().seconds, {}, ""};
    if (settings_.threads > 0 && result.key.where.threads > 0) result.key.where.threads = settings_.threads;
    for (std::size_t p = 1; p < tuned.programs.size(); ++p)
      if (const auto& each = tuned.programs[p]; each.seconds > 0)
        result.others.push_back({each.program.text, each.seconds});
    result.certificate = tuned.programs[tuned.best].program.certificate;
    return result;
  }

  const engine::DerivablePart& part_;
  const TuneSettings& settings_;
  double end_;
  std::shared_ptr<const engine::Function> function_;
  std::vector<engine::Argument> arguments_;
  Layout layout_;
  SharedMemory memory_;
  Workers workers_;
  Record record_;
  EvaluationSettings how_;
  Evaluation evaluation_;
};

void check_constants(const engine::Function& function, const std::vector<engine::Constant>& constants) {
  const auto& params = function.def.params;
  for (const auto& constant : constants)
    if (std::none_of(params.begin(), params.end(), [&](const auto& param) { return param.name == constant.name; }))
      throw ArgumentError(str("'", function.name(), "' takes no '", constant.name, "' that may be constant"));
}

}  // namespace

DerivationTuning tune_derivations(const std::shared_ptr<const engine::Function>& function,
                                  const std::vector<TensorSpec>& inputs, const TuneSettings& settings,
                                  const engine::CompileOptions& how) {
  auto own = settings;
  if (own.budget == 0 && own.candidates == 0) own.candidates = most_programs;
  check(own);
  check_constants(*function, how.constants);
  if (engine::checked_derive(how.derive) == 0) throw OptionsError("derive=0 derives nothing that could be measured");
  const double begin = now();
  auto derive = how;
  derive.target = settings.target;
  derive.stages.cancellation = settings.cancellation;
  const auto most = static_cast<std::size_t>(own.candidates > 0 ? own.candidates : most_programs);
  const auto parts = engine::derivable_parts(function, engine::make_arguments(*function, inputs, {}), derive, most);
  DerivationTuning result;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const double left = own.budget > 0 ? begin + own.budget - now() : endless;
    if (settings.cancellation.requested() || left <= 0) {
      result.stop = settings.cancellation.requested() ? Stop::Cancelled : Stop::Budget;
      break;
    }
    const double share = left / static_cast<double>(parts.size() - p);
    result.parts.push_back(PartTuner(parts[p], own, now() + share).run());
  }
  result.elapsed = now() - begin;
  return result;
}

}  // namespace tc::autotuner
