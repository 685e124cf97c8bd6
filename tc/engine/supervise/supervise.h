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

/// The limits of some work.
struct Limits {
  Cancellation cancellation;  ///< the request and the deadline that it heeds
  std::size_t memory = 0;     ///< bytes by which the process may grow meanwhile; 0: no limit
};

/// The connection between work and the thread that waits for it.
class Supervision {
 public:
  explicit Supervision(const Cancellation& outer) : cancellation_(outer.child()) {}
  virtual ~Supervision() = default;

  /// For the work: requested when it has to stop, for any reason.
  const Cancellation& cancellation() const { return cancellation_; }
  /// Sets the active context, which is aborted when the work has to stop; null: none. Must be reset before the
  /// context is destroyed.
  virtual void watch(polyhedral::Context* context) = 0;

 private:
  Cancellation cancellation_;
};

/// Seconds that work has to stop by itself before it is left behind.
inline constexpr double grace = 0.2;

/// Runs \p work in a thread of its own, with 64 MiB of stack, and waits for it: returns or throws what it does. In that
/// thread check_cancelled() asks supervision.cancellation().
///
/// When a limit is reached, cancellation is requested, and the work has `grace` seconds to stop. Work that does not
/// check for cancellation by then, for example LLVM in the middle of a function, is left behind: this call throws,
/// while the thread continues at the lowest priority to its next check and frees its memory there. Therefore \p work
/// must own all data that it accesses. The number of threads left behind is limited (max_left_behind()); at the
/// limit, a call first waits for one of them, within its limits. At the end of the process all work is stopped, and
/// threads that still run are halted.
///
/// Throws CancelledError and ResourceError for \p limits, with \p where as the name of the work; ResourceError if the
/// system cannot create a thread.
void run_supervised(const Limits& limits, const char* where, std::function<void(Supervision&)> work);

/// The result of \p work, run by run_supervised().
template <typename Work>
auto supervised(const Limits& limits, const char* where, Work work) {
  const auto result = std::make_shared<std::optional<decltype(work(std::declval<Supervision&>()))>>();
  run_supervised(limits, where,
                 [result, work = std::move(work)](Supervision& supervision) { result->emplace(work(supervision)); });
  return std::move(**result);
}

}  // namespace tc::engine
