#pragma once

#include <sys/types.h>

namespace tc::engine {

/// The threads that go on with work nobody waits for any more.

/// How many of them there may be.
int max_left_behind();
/// How many there are.
int left_behind();
/// Notes that \p thread (gettid()) is left behind, and gives it the lowest priority. When the process ends, it is
/// halted where it stands in compiler code, so that it neither uses what destructors have freed nor holds a lock of
/// the allocator.
void leave_behind(pid_t thread);
/// Notes that the calling thread, which was left behind, is at its end.
void forget_left_behind(pid_t thread);

}  // namespace tc::engine
