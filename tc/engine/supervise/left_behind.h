#pragma once

#include <sys/types.h>

#include <functional>

#include "tc/base/cancellation.h"

namespace tc::engine {

/// The working threads, including threads that were left behind. At the end of the process, threads that do not stop
/// are halted in compiler code, so that they neither use freed objects nor hold a lock of the allocator. A main thread that
/// ends by pthread_exit() ends the process in this sense.

/// Registers \p thread (gettid()) as working; \p stop requests its end. Throws CancelledError at the end of the
/// process.
void begin_work(pid_t thread, std::function<void()> stop);
/// Called from time to time while work continues, so that objects it has created meanwhile are destroyed after it is
/// stopped.
void note_work();
/// Removes the calling thread, \p thread, from the working threads.
void end_work(pid_t thread);
/// Registers the calling thread as working for its own lifetime; the thread obeys \p cancellation. Inside of other work of the
/// thread it does nothing.
class AtWork {
 public:
  explicit AtWork(const Cancellation& cancellation);
  ~AtWork();
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  bool is_inside_ = false;
};
/// Requests all work to stop, and halts threads that have not stopped after 100 ms.
void stop_all_work();

/// The largest number of threads left behind at a time.
int max_left_behind();
/// The current number.
int left_behind();
/// Marks \p thread as left behind and gives it the lowest priority.
void leave_behind(pid_t thread);

}  // namespace tc::engine
