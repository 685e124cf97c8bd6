#include <pybind11/stl.h>

#include <chrono>
#include <deque>
#include <future>
#include <mutex>

#include "bindings.h"
#include "cache.h"
#include "callable.h"
#include "interpreter_lock.h"
#include "policy.h"
#include "tc/autotuner/tuner.h"
#include "tc/autotuner/worker/sample.h"
#include "tc/autotuner/worker/worker.h"
#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"

namespace py = pybind11;

namespace tc::python {
namespace {

using autotuner::Candidate;
using autotuner::Finalist;
using autotuner::Progress;
using autotuner::TuneResult;
using autotuner::TuneSettings;

using namespace py::literals;

py::dict to_python(const Finalist& finalist) {
  return py::dict("options"_a = finalist.options, "time"_a = finalist.seconds, "least"_a = finalist.least,
                  "spread"_a = finalist.spread, "runs"_a = finalist.runs);
}

py::dict to_python(const Candidate& candidate) {
  return py::dict("options"_a = candidate.options, "status"_a = autotuner::name(candidate.status),
                  "time"_a = candidate.seconds, "spread"_a = candidate.spread, "note"_a = candidate.note,
                  "generation"_a = candidate.generation, "at"_a = candidate.at, "predicted"_a = candidate.predicted,
                  "device"_a = candidate.device);
}

py::dict to_python(const Progress& progress) {
  return py::dict("generation"_a = progress.generation, "tried"_a = progress.tried, "usable"_a = progress.usable,
                  "same"_a = progress.same, "slow"_a = progress.slow, "failed"_a = progress.failed,
                  "default"_a = progress.default_seconds, "best"_a = progress.best_seconds,
                  "median"_a = progress.median_seconds, "elapsed"_a = progress.elapsed, "budget"_a = progress.budget,
                  "candidates"_a = progress.candidates);
}

template <typename Items>
py::list list_of(const Items& items) {
  py::list result;
  for (const auto& item : items) result.append(to_python(item));
  return result;
}

py::dict to_python(const TuneResult& tuned) {
  return py::dict("best"_a = to_python(tuned.best), "default"_a = to_python(tuned.standard),
                  "finalists"_a = list_of(tuned.finalists), "candidates"_a = list_of(tuned.candidates),
                  "executable"_a = std::make_shared<Callable>(tuned.executable), "stop"_a = autotuner::name(tuned.stop),
                  "generations"_a = tuned.generations, "elapsed"_a = tuned.elapsed, "kept"_a = tuned.kept,
                  "used"_a = tuned.used);
}

/// The newest progress, from the thread that tunes to the one that shows it.
class Mailbox {
 public:
  void put(const Progress& progress) {
    std::lock_guard lock(mutex_);
    latest_ = progress;
  }
  std::optional<Progress> take() {
    std::lock_guard lock(mutex_);
    return std::exchange(latest_, std::nullopt);
  }

 private:
  ForkMutex mutex_;
  std::optional<Progress> latest_;
};

/// Lets signals raise something, then shows \p progress, if there is any.
void show_progress(const std::optional<Progress>& progress, const py::object& show) {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  if (progress && !show.is_none()) show(to_python(*progress));
}

/// The result of \p work, in a thread of its own, while this one shows progress and looks for signals. The first
/// Ctrl-C, wherever it strikes, only ends the tuning; everything else is thrown once that has ended.
TuneResult watched(const std::function<TuneResult()>& work, const Cancellation& cancellation, Mailbox& mailbox,
                   const py::object& show) {
  const Unlocked release;
  auto future = std::async(std::launch::async, work);
  auto wait = [&] {
    const Unlocked again;
    future.wait();
  };
  while (future.wait_for(std::chrono::milliseconds(30)) != std::future_status::ready) {
    const Locked acquire;
    try {
      show_progress(mailbox.take(), show);
    } catch (py::error_already_set& error) {
      bool only_ends = error.matches(PyExc_KeyboardInterrupt) && !cancellation.requested();
      cancellation.cancel();
      if (only_ends) continue;
      wait();
      throw;
    } catch (...) {
      cancellation.cancel();
      wait();
      throw;
    }
  }
  return future.get();
}

/// What \p work gives; a tuning that Ctrl-C ended before there was anything to give is a KeyboardInterrupt.
template <typename Work>
TuneResult result_or_interrupt(Work&& work) {
  try {
    return work();
  } catch (const CancelledError& error) {
    PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
    throw py::error_already_set();
  }
}

TuneSettings settings_of(const py::dict& values) {
  TuneSettings settings;
  settings.worker = values["worker"].cast<std::vector<std::string>>();
  settings.budget = values["budget"].cast<double>();
  settings.candidates = values["candidates"].cast<int>();
  const auto search = values["search"].cast<std::string>();
  if (const py::object policy = values["policy"]; !policy.is_none()) {
    settings.search = autotuner::SearchKind::Policy;
    settings.policy = policy_of(search, policy);
  } else {
    settings.search = autotuner::parse_search(search);
  }
  if (const py::object prices = values["prices"]; !prices.is_none()) settings.prices = correction_of(prices);
  settings.ranking = autotuner::parse_ranking(values["ranking"].cast<std::string>());
  settings.devices = values["devices"].cast<std::vector<int>>();
  settings.seed = values["seed"].cast<std::uint64_t>();
  settings.genetic.population = values["population"].cast<int>();
  settings.finalists = values["finalists"].cast<int>();
  settings.final_seconds = values["final_seconds"].cast<double>();
  settings.interpret_limit = values["interpret_limit"].cast<double>();
  settings.starts = values["starts"].cast<std::vector<options::MappingOptions>>();
  settings.checkpoint = values["checkpoint"].cast<std::string>();
  return settings;
}

/// The tensors of a tuning: those that are given, others made up.
class TuneInputs {
 public:
  TuneInputs(const CacheKey& key, const py::tuple& tensors, std::uint64_t seed) {
    const auto& def = key.function->def;
    std::vector<TensorSpec> specs;
    for (std::size_t i = 0; i < tensors.size(); ++i) specs.push_back(key.key.tensors[i].spec);
    sample_ = std::make_unique<autotuner::SampleTensors>(*key.function, specs, seed);
    views_ = sample_->views();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      py::object tensor = tensors[i];
      if (py::isinstance<TensorSpec>(tensor)) continue;
      const auto& name = def.params[i].name;
      auto& borrowed = borrowed_.emplace_back();
      if (def.tensors.at(name).rank == 0 && is_number(tensor.ptr()))
        borrowed.take_number(tensor.ptr(), def.tensors.at(name).type, name.c_str());
      else
        borrowed.take(tensor.ptr(), name.c_str());
      if (borrowed.device != on_cpu)
        throw ArgumentError(str("'", name, "' is on a GPU: tuning takes tensors of the host"));
      views_[i] = borrowed.view();
    }
  }
  const std::vector<TensorView>& views() const { return views_; }

 private:
  std::unique_ptr<autotuner::SampleTensors> sample_;
  std::deque<Borrowed> borrowed_;
  std::vector<TensorView> views_;
};

py::dict tune(const CacheKey& key, const py::tuple& tensors, const std::shared_ptr<cache::Cache>& cache,
              const py::dict& values, const py::object& show) {
  auto settings = settings_of(values);
  TuneInputs inputs(key, tensors, settings.seed);
  Mailbox mailbox;
  settings.target = Target::parse(key.key.target);
  settings.cache = cache;
  if (!show.is_none()) settings.on_progress = [&](const Progress& progress) { mailbox.put(progress); };
  std::vector<TensorSpec> outputs;
  for (const auto& tensor : key.key.tensors)
    if (tensor.output) outputs.push_back(tensor.spec);
  auto work = [&] { return autotuner::tune(key.function, inputs.views(), outputs, settings); };
  auto result = to_python(result_or_interrupt([&] { return watched(work, settings.cancellation, mailbox, show); }));
  if (cache) give_warnings(*cache);
  return result;
}

}  // namespace

void bind_tune(py::module_& m) {
  bind_policies(m);
  m.def("tune", &tune, py::arg("key"), py::arg("tensors"), py::arg("cache"), py::arg("settings"), py::arg("show"),
        "Searches for the fastest mapping options.");
  m.def(
      "tuner_worker", [] { return autotuner::worker_main(); },
      "What a process of a tuning runs; see tensor_comprehensions.autotune.");
}

}  // namespace tc::python
