#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <future>
#include <utility>

#include "tc/base/cancellation.h"

namespace tc::python {

/// work(cancellation) in a thread of its own, without the interpreter's lock. A signal that Python turns into an
/// exception (Ctrl-C) cancels the work; the exception is thrown when it has ended.
template <typename Work>
auto interruptible(Work&& work) {
  Cancellation cancellation;
  pybind11::gil_scoped_release release;
  auto future = std::async(std::launch::async, std::forward<Work>(work), cancellation);
  while (future.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready) {
    pybind11::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() == 0) continue;
    cancellation.cancel();
    pybind11::error_already_set error;
    {
      pybind11::gil_scoped_release again;
      future.wait();
    }
    throw error;
  }
  return future.get();
}

}  // namespace tc::python
