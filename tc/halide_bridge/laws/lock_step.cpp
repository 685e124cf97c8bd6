#include "tc/halide_bridge/laws/lock_step.h"

#include <algorithm>
#include <vector>

#include "tc/polyhedral/spread/thread_map.h"

namespace tc::halide_bridge {
namespace {

class LockStep {
 public:
  LockStep(std::int64_t threads, const ThreadActions& actions)
      : threads_(threads), actions_(actions), waits_(static_cast<std::size_t>(threads)) {}

  bool run() {
    for (std::int64_t thread = 0; thread < threads_; ++thread) advance(thread);
    while (waiting_ > 0)
      if (!meet()) return false;
    return true;
  }

 private:
  std::optional<Meeting>& at(std::int64_t thread) { return waits_[static_cast<std::size_t>(thread)]; }

  void advance(std::int64_t thread) {
    at(thread) = actions_.advance(thread);
    if (at(thread)) ++waiting_;
  }

  bool has_come(std::int64_t first, std::int64_t last) {
    for (auto thread = first; thread < last; ++thread)
      if (at(thread) != at(first)) return false;
    return at(first).has_value();
  }

  /// Lets every group that is complete go on. False: there is none.
  bool meet() {
    bool any = false;
    for (std::int64_t first = 0, last = 1; first < threads_; first = last) {
      const auto members = at(first) ? at(first)->members : 1;
      last = std::min(first / members * members + members, threads_);
      if (first % members != 0 || !has_come(first, last)) continue;
      any = true;
      actions_.meet(first, last);
      waiting_ -= last - first;
      for (auto thread = first; thread < last; ++thread) advance(thread);
    }
    return any;
  }

  std::int64_t threads_;
  const ThreadActions& actions_;
  std::vector<std::optional<Meeting>> waits_;  ///< where each thread waits; none: at its end
  std::int64_t waiting_ = 0;
};

}  // namespace

std::map<std::string, std::int64_t> ThreadGrid::coordinates(std::int64_t block_number, std::int64_t thread) const {
  auto result = told;
  for (int dimension = 0; dimension < 3; ++dimension) {
    const auto i = static_cast<std::size_t>(dimension);
    result[polyhedral::block_name(dimension)] = block_number % grid[i];
    result[polyhedral::thread_name(dimension)] = thread % block[i];
    block_number /= grid[i];
    thread /= block[i];
  }
  return result;
}

bool run_in_lock_step(std::int64_t threads, const ThreadActions& actions) { return LockStep(threads, actions).run(); }

}  // namespace tc::halide_bridge
