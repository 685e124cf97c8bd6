#include "interpreter_lock.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tc/engine/supervise/left_behind.h"

namespace py = pybind11;

namespace tc::python {
namespace {

std::atomic<bool> ends{false};
std::atomic<int> taking{0};
std::atomic<std::thread::id> ending_thread;

/// The threads that are about to take the lock get it first, so that none waits for it when the interpreter has no more to give.
void end_of_interpreter() {
  ending_thread = std::this_thread::get_id();
  ends = true;
  const Unlocked unlocked;
  engine::stop_all_work();
  while (taking > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

TakingLock::TakingLock() {
  ++taking;
  if (!ends || ending_thread.load() == std::this_thread::get_id()) return;
  --taking;
  for (;;) ::pause();
}

TakingLock::~TakingLock() { --taking; }

void watch_end_of_interpreter() {
  py::module_::import("atexit").attr("register")(py::cpp_function(end_of_interpreter));
}

}  // namespace tc::python
