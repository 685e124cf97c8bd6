#pragma once

#include <sys/types.h>

#include <functional>

#include "tc/base/cancellation.h"

namespace tc::engine {

/// The threads at work, some of which nobody waits for any more. When the process ends those that do not stop are halted where
/// they stand in compiler code, so that they neither use what destructors have freed nor hold a lock of the allocator.

/// Notes that \p thread (gettid()) is at work, which \p stop tells to end. Throws CancelledError at the end of the process.
void begin_work(pid_t thread, std::function<void()> stop);
/// Notes, from time to time, that work goes on: what it has made meanwhile is destroyed after it is stopped.
void note_work();
/// Notes that the calling thread, \p thread, has ended its work.
void end_work(pid_t thread);
/// For as long as it lives the calling thread is at work, which heeds \p cancellation.
class AtWork {
 public:
  explicit AtWork(const Cancellation& cancellation);
  ~AtWork();
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
};
/// Tells all work to stop, and halts what has not done so 100 ms later.
void stop_all_work();

/// How many threads may be left behind.
int max_left_behind();
/// How many are.
int left_behind();
/// Notes that nobody waits for the work of \p thread, which gets the lowest priority.
void leave_behind(pid_t thread);

}  // namespace tc::engine
