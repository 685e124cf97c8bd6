#pragma once

#include <atomic>
#include <chrono>
#include <memory>

namespace tc {

/// A request to stop and a deadline, shared between the thread that compiles and others. Copies share state.
class Cancellation {
 public:
  Cancellation();
  /// Ends the work at its next check; callable from any thread and from a signal handler.
  void cancel() const;
  /// Ends the work when \p seconds have passed from now.
  void set_time_limit(double seconds);
  bool requested() const;
  /// Throws CancelledError after cancel(), ResourceError past the deadline; \p where names the work.
  void check(const char* where) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tc
