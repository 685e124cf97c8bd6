#include "tc/autotuner/winner.h"

#include <algorithm>

#include "tc/autotuner/worker/jobs.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cpu/thread_pool.h"
#include "tc/engine/machine/machine_kind.h"
#include "tc/engine/persistent.h"

namespace tc::autotuner {
namespace {

constexpr double ratio_to_lost = 0.99;  ///< of a winner, in terms of options that do not run any more

/// What makes the winner's code, and where it goes.
class Finisher {
 public:
  Finisher(const engine::Function& function, const std::vector<engine::Argument>& arguments,
           const TuneSettings& settings, const Finish& finish)
      : function_(function), arguments_(arguments), finish_(finish) {
    how_.target = settings.target;
    how_.cache = settings.cache;
    how_.stages.verify = true;
  }

  /// The code of \p options. Throws InternalError where a law does not hold.
  std::shared_ptr<const engine::Executable> executable_of(const options::MappingOptions& options) {
    how_.mapping = options;
    how_.stages.verify = true;
    if (auto kept = engine::load_kept(function_, arguments_, how_)) return kept;
    auto reply = finish_.workers.run(Message{"finish", options.to_text()}, finish_.limits, no_gpu, finish_.stop);
    if (reply && reply->front() == name(Status::Ok) && reply->size() == 3)
      return kept((*reply)[1], stages_of((*reply)[2]));
    if (reply && reply->front() == name(Status::Rejected)) throw InternalError(reply->back());
    how_.stages.verify = false;
    if (auto image = finish_.image(options); !image.empty()) return kept(image, {});
    throw ResourceError(str("'", function_.name(), "' with the options '", options.to_text(),
                            "' has no machine code: ", reply ? reply->back() : "there was no time to compile it"));
  }

 private:
  std::shared_ptr<const engine::Executable> kept(const std::string& image, std::vector<StageRecord> stages) {
    engine::CompileStats stats;
    for (const auto& stage : stages) stats.milliseconds += stage.milliseconds;
    stats.records = std::move(stages);
    auto code = engine::Image::deserialise(image);
    code.options = how_.mapping.to_text();  // other options may have given the same code before
    auto result = std::make_shared<engine::Executable>(std::move(code), std::move(stats));
    engine::keep_code(function_, arguments_, how_, *result);
    return result;
  }

  const engine::Function& function_;
  const std::vector<engine::Argument>& arguments_;
  const Finish& finish_;
  engine::CompileOptions how_;
};

cache::Circumstances circumstances(const TuneSettings& settings) {
  auto here = engine::circumstances_here(settings.target);
  if (here.threads > 0 && settings.threads > 0) here.threads = settings.threads;
  return here;
}

/// The time that result.best would have had when \p before, which is slower, was measured; nothing where that was
/// measured elsewhere, or not at all.
std::optional<double> time_like(const cache::OptionsEntry& before, const TuneSettings& settings,
                                const TuneResult& result) {
  const auto& options = before.options;
  bool comparable = before.origin == cache::Origin::Tuned && before.measured && options != result.best.options;
  auto here = circumstances(settings), there = cache::circumstances_of(before);
  bool like =
      (here.machine.empty() || here.machine == there.machine) && (here.threads == 0 || here.threads == there.threads);
  if (!comparable || !like) return std::nullopt;
  double ratio = ratio_to_lost;
  for (const auto& finalist : result.finalists)
    if (finalist.options == options && finalist.runs > 0 && finalist.seconds > 0)
      ratio = std::min(ratio, result.best.seconds / finalist.seconds);
  return ratio * before.measured->median_ns;
}

cache::Measurement measurement_of(const Finalist& finalist, const TuneSettings& settings, int device) {
  auto measured = cache::measurement_here();
  measured.median_ns = finalist.seconds * 1e9;
  measured.least_ns = finalist.least * 1e9;
  measured.spread_ns = finalist.spread * 1e9;
  measured.runs = finalist.runs;
  measured.checked = true;
  measured.threads = settings.threads > 0 ? settings.threads : cpu::num_threads();
  measured.machine = engine::machine_kind_of(settings.target).name(device);
  return measured;
}

/// Makes \p nanoseconds the median of \p measured, if it is less, and all else in proportion.
void tell_as(double nanoseconds, cache::Measurement& measured) {
  double scale = std::min(1.0, nanoseconds / measured.median_ns);
  for (double* time : {&measured.median_ns, &measured.least_ns, &measured.spread_ns}) *time *= scale;
}

}  // namespace

std::optional<cache::OptionsEntry> entry_in_use(const engine::Function& function,
                                                const std::vector<engine::Argument>& arguments,
                                                const TuneSettings& settings) {
  if (!settings.cache) return std::nullopt;
  auto key = engine::persistent_key(function, arguments, settings.target);
  auto entry = engine::entry_in_use(*settings.cache, key, settings.target, circumstances(settings));
  if (entry) entry->options = engine::with_names_of(function, entry->options);
  return entry;
}

void keep_winner(const std::shared_ptr<const engine::Function>& function,
                 const std::vector<engine::Argument>& arguments, const TuneSettings& settings,
                 const std::optional<cache::OptionsEntry>& before, const Finish& finish, TuneResult& result) {
  Finisher finisher(*function, arguments, settings, finish);
  try {
    result.executable = finisher.executable_of(result.best.options);
  } catch (const Error&) {
    if (result.best.options == result.standard.options) throw;
    result.best = result.standard;
    result.executable = finisher.executable_of(result.best.options);
  }
  if (settings.cache && settings.cache->settings().writable && result.best.runs > 0) {
    auto entry = engine::options_entry(*function, arguments, settings.target, result.best.options);
    entry.measured = measurement_of(result.best, settings, finish.device);
    entry.note = str("tuned: ", result.candidates.size(), " candidates, seed ", settings.seed);
    if (auto time = before && before->key == entry.key ? time_like(*before, settings, result) : std::nullopt)
      tell_as(*time, *entry.measured);
    result.kept = settings.cache->put(entry);
  }
  auto after = entry_in_use(*function, arguments, settings);
  result.used = after ? after->options : options::MappingOptions();
}

}  // namespace tc::autotuner
