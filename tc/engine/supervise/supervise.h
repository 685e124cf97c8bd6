#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "tc/base/cancellation.h"

namespace tc::polyhedral {
class Context;
}

namespace tc::engine {

/// What work may take.
struct Limits {
  Cancellation cancellation;  ///< the request and the deadline that it heeds
  std::size_t memory = 0;     ///< bytes by which the process may grow meanwhile; 0: no limit
};

/// Between work and the thread that waits for it.
class Supervision {
 public:
  explicit Supervision(const Cancellation& outer) : cancellation_(outer.child()) {}
  virtual ~Supervision() = default;

  /// For the work: requested when it has to stop, for whatever reason.
  const Cancellation& cancellation() const { return cancellation_; }
  /// The context at work from now, which is aborted when the work has to stop; null: none. To be told before the
  /// context is destroyed.
  virtual void watch(polyhedral::Context* context) = 0;

 private:
  Cancellation cancellation_;
};

/// Seconds that work has for stopping by itself, before it is left behind.
inline constexpr double grace = 0.2;

/// Runs \p work in a thread of its own, with 64 MiB of stack, and waits for it: returns or throws what it does. In that
/// thread check_cancelled() asks supervision.cancellation().
///
/// Once a limit is reached the work is told, and has `grace` to stop. What does not look by then, as LLVM in the middle
/// of a function, is left behind: this call throws, while the thread goes on with the lowest priority to the next place
/// where it looks, and frees there what it holds. \p work therefore owns all that it touches. Few threads are left
/// behind at a time (max_left_behind()): where there are more, a call first waits for one of them, within its limits. At the end of
/// the process all work is stopped, and what still runs then is halted.
///
/// Throws CancelledError and ResourceError for \p limits, \p where naming the work; ResourceError where the system
/// refuses a thread.
void run_supervised(const Limits& limits, const char* where, std::function<void(Supervision&)> work);

/// What \p work gives, run so.
template <typename Work>
auto supervised(const Limits& limits, const char* where, Work work) {
  const auto result = std::make_shared<std::optional<decltype(work(std::declval<Supervision&>()))>>();
  run_supervised(limits, where,
                 [result, work = std::move(work)](Supervision& supervision) { result->emplace(work(supervision)); });
  return std::move(**result);
}

}  // namespace tc::engine
