#include <pybind11/stl.h>

#include <chrono>
#include <deque>
#include <future>
#include <mutex>

#include "bindings.h"
#include "cache.h"
#include "callable.h"
#include "tc/autotuner/sample.h"
#include "tc/autotuner/tuner.h"
#include "tc/autotuner/worker.h"
#include "tc/base/error.h"
#include "tc/base/str.h"

namespace py = pybind11;

namespace tc::python {
namespace {

using autotuner::Candidate;
using autotuner::Finalist;
using autotuner::Progress;
using autotuner::TuneResult;
using autotuner::TuneSettings;

py::dict to_python(const Finalist& finalist) {
  py::dict result;
  result["options"] = finalist.options;
  result["time"] = finalist.seconds;
  result["least"] = finalist.least;
  result["spread"] = finalist.spread;
  result["runs"] = finalist.runs;
  return result;
}

py::dict to_python(const Candidate& candidate) {
  py::dict result;
  result["options"] = candidate.options;
  result["status"] = autotuner::name(candidate.status);
  result["time"] = candidate.seconds;
  result["spread"] = candidate.spread;
  result["note"] = candidate.note;
  result["generation"] = candidate.generation;
  result["at"] = candidate.at;
  return result;
}

py::dict to_python(const Progress& progress) {
  py::dict result;
  result["generation"] = progress.generation;
  result["tried"] = progress.tried;
  result["usable"] = progress.usable;
  result["same"] = progress.same;
  result["slow"] = progress.slow;
  result["failed"] = progress.failed;
  result["default"] = progress.default_seconds;
  result["best"] = progress.best_seconds;
  result["median"] = progress.median_seconds;
  result["elapsed"] = progress.elapsed;
  result["budget"] = progress.budget;
  result["candidates"] = progress.candidates;
  return result;
}

template <typename Items>
py::list list_of(const Items& items) {
  py::list result;
  for (const auto& item : items) result.append(to_python(item));
  return result;
}

py::dict to_python(const TuneResult& tuned) {
  py::dict result;
  result["best"] = to_python(tuned.best);
  result["default"] = to_python(tuned.standard);
  result["finalists"] = list_of(tuned.finalists);
  result["candidates"] = list_of(tuned.candidates);
  result["executable"] = std::make_shared<Callable>(tuned.executable);
  result["stop"] = autotuner::name(tuned.stop);
  result["generations"] = tuned.generations;
  result["elapsed"] = tuned.elapsed;
  result["kept"] = tuned.kept;
  return result;
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
  std::mutex mutex_;
  std::optional<Progress> latest_;
};

/// Did a signal raise something? Ctrl-C only ends the tuning, at its first time; everything else is thrown once \p wait
/// has waited for its end.
template <typename Wait>
void look_at_signals(const Cancellation& cancellation, Wait&& wait) {
  if (PyErr_CheckSignals() == 0) return;
  bool first = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) && !cancellation.requested();
  cancellation.cancel();
  if (first) return PyErr_Clear();
  py::error_already_set error;
  wait();
  throw error;
}

/// The result of \p work, in a thread of its own, while this one shows progress and looks for signals.
TuneResult watched(const std::function<TuneResult()>& work, const Cancellation& cancellation, Mailbox& mailbox,
                   const py::object& show) {
  py::gil_scoped_release release;
  auto future = std::async(std::launch::async, work);
  auto wait = [&] {
    py::gil_scoped_release again;
    future.wait();
  };
  while (future.wait_for(std::chrono::milliseconds(30)) != std::future_status::ready) {
    py::gil_scoped_acquire acquire;
    look_at_signals(cancellation, wait);
    auto progress = mailbox.take();
    if (!progress || show.is_none()) continue;
    try {
      show(to_python(*progress));
    } catch (...) {
      cancellation.cancel();
      wait();
      throw;
    }
  }
  return future.get();
}

TuneSettings settings_of(const py::dict& values) {
  TuneSettings settings;
  settings.worker = values["worker"].cast<std::vector<std::string>>();
  settings.budget = values["budget"].cast<double>();
  settings.candidates = values["candidates"].cast<int>();
  settings.method = autotuner::parse_method(values["method"].cast<std::string>());
  settings.seed = values["seed"].cast<std::uint64_t>();
  settings.genetic.population = values["population"].cast<int>();
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
        throw ArgumentError(str("'", name, "' is on a GPU: tuning measures on a processor of this machine"));
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
  auto result = to_python(watched(work, settings.cancellation, mailbox, show));
  if (cache) give_warnings(*cache);
  return result;
}

}  // namespace

void bind_tune(py::module_& m) {
  m.def("tune", &tune, py::arg("key"), py::arg("tensors"), py::arg("cache"), py::arg("settings"), py::arg("show"),
        "Searches for the fastest mapping options.");
  m.def(
      "tuner_worker", [] { return autotuner::worker_main(); },
      "What a process of a tuning runs; see tensor_comprehensions.autotune.");
}

}  // namespace tc::python
