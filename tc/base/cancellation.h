#pragma once

#include <memory>

namespace tc {

/// A request to stop and a deadline, shared between the thread that does some work and others. Copies share state.
class Cancellation {
 public:
  Cancellation();
  /// A request and a deadline of its own, which heeds this one's too: for a part of the work, or for one caller of it.
  Cancellation child() const;
  /// Ends the work when it looks next; callable from any thread and from a signal handler.
  void cancel() const;
  /// Ends the work when \p seconds have passed from now; 0 and what no clock counts, infinity among it: no limit.
  /// Throws OptionsError for a negative number and for what is none.
  void set_time_limit(double seconds);
  bool requested() const;
  /// Throws CancelledError after cancel(), ResourceError past the deadline; \p where names the work.
  void check(const char* where) const;

 private:
  struct State;
  bool was_cancelled() const;
  bool is_late() const;

  std::shared_ptr<State> state_;
};

/// For as long as it lives, check_cancelled() in this thread asks \p cancellation.
class CancellationScope {
 public:
  explicit CancellationScope(const Cancellation& cancellation);
  ~CancellationScope();
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;

 private:
  const Cancellation* outer_;
  Cancellation cancellation_;
};

/// Cancellation::check() of what this thread works for; nothing where that cannot be cancelled. For loops whose length
/// a program's text decides: it costs some ten nanoseconds.
void check_cancelled(const char* where);

}  // namespace tc
