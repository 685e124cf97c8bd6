#include "tc/autotuner/winner.h"

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cpu/thread_pool.h"
#include "tc/cuda/driver.h"
#include "tc/engine/persistent.h"

namespace tc::autotuner {
namespace {

void compile_winner(const std::shared_ptr<const engine::Function>& function,
                    const std::vector<engine::Argument>& arguments, const TuneSettings& settings, TuneResult& result) {
  engine::CompileOptions how;
  how.target = settings.target;
  how.cache = settings.cache;
  how.stages.verify = true;
  how.mapping = result.best.options;
  try {
    result.executable = engine::load_or_compile(function, arguments, how);
  } catch (const Error&) {
    if (result.best.options == result.standard.options) throw;
    result.best = result.standard;
    how.mapping = result.best.options;
    result.executable = engine::load_or_compile(function, arguments, how);
  }
}

cache::Measurement measurement_of(const Finalist& finalist, const TuneSettings& settings, int device) {
  auto measured = cache::measurement_here();
  measured.median_ns = finalist.seconds * 1e9;
  measured.least_ns = finalist.least * 1e9;
  measured.spread_ns = finalist.spread * 1e9;
  measured.runs = finalist.runs;
  measured.checked = true;
  measured.threads = settings.threads > 0 ? settings.threads : cpu::num_threads();
  if (settings.target.is_cuda()) measured.machine = cuda::device_name(device);
  return measured;
}

}  // namespace

void keep_winner(const std::shared_ptr<const engine::Function>& function,
                 const std::vector<engine::Argument>& arguments, const TuneSettings& settings, int device, TuneResult& result) {
  compile_winner(function, arguments, settings, result);
  if (!settings.cache || !settings.cache->settings().writable || result.best.runs == 0) return;
  auto entry = engine::options_entry(*function, arguments, settings.target, result.best.options);
  entry.measured = measurement_of(result.best, settings, device);
  entry.note = str("tuned: ", result.candidates.size(), " candidates, seed ", settings.seed);
  result.kept = settings.cache->put(entry);
}

}  // namespace tc::autotuner
