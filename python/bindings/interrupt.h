#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <future>

#include "interpreter_lock.h"
#include "tc/base/cancellation.h"
#include "tc/engine/supervise/left_behind.h"

namespace tc::python {

/// work(cancellation) in a thread of its own, without the interpreter's lock. A signal that Python turns into an
/// exception (Ctrl-C) cancels the work, as the end of the interpreter does; the exception is thrown when it has ended.
template <typename Work>
auto interruptible(const Work& work) {
  Cancellation cancellation;
  Unlocked release;
  auto future = std::async(std::launch::async, [&work, cancellation] {
    const engine::AtWork at_work(cancellation);
    return work(cancellation);
  });
  while (future.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready) {
    Locked acquire;
    if (PyErr_CheckSignals() == 0) continue;
    cancellation.cancel();
    pybind11::error_already_set error;
    {
      Unlocked again;
      future.wait();
    }
    throw error;
  }
  return future.get();
}

}  // namespace tc::python
