#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

#include "tc/base/cancellation.h"

namespace tc::polyhedral {
class Context;
}

namespace tc::engine {

/// Stops isl inside a compile when it is cancelled, past its deadline or past its memory: a thread that looks every few
/// milliseconds, for as long as the object lives. What isl throws then is told apart by check().
class Watchdog {
 public:
  Watchdog(Cancellation cancellation, std::size_t memory_limit);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// The context at work from now; null: none. Must be told before the context is destroyed.
  void watch(polyhedral::Context* context);
  /// Throws CancelledError or ResourceError when the compile has to stop; \p where names the work.
  void check(const char* where) const;

 private:
  void loop();
  bool must_stop() const;

  Cancellation cancellation_;
  std::size_t memory_limit_;
  std::size_t memory_at_start_;
  std::mutex mutex_;
  std::condition_variable wake_;
  polyhedral::Context* context_ = nullptr;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace tc::engine
