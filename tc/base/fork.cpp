#include "tc/base/fork.h"

#include <pthread.h>

#include <atomic>

namespace tc {
namespace {

constinit std::atomic<std::uint64_t> generation{0};
constinit std::atomic<int> inside{0};  ///< threads in sections
constinit std::atomic<int> forks{0};   ///< under way
thread_local int depth = 0;            ///< sections that this thread is in, one in the other

void wait_while(std::atomic<int>& count) {
  for (int seen = count; seen != 0; seen = count) count.wait(seen);
}

void count_down(std::atomic<int>& count) {
  if (--count == 0) count.notify_all();
}

/// A thread that enters counts itself before it looks for forks, a fork counts itself before it looks for threads inside:
/// either the thread waits or the fork does.
void begin_fork() {
  ++forks;
  if (depth > 0) count_down(inside);
  wait_while(inside);
}

void end_fork() {
  if (depth > 0) ++inside;
  count_down(forks);
}

/// Other forks that the parent's threads are at are none of the child's.
void begin_child() {
  ++generation;
  forks = 0;
  inside = depth > 0 ? 1 : 0;
}

[[maybe_unused]] const int watched = pthread_atfork(begin_fork, end_fork, begin_child);

}  // namespace

std::uint64_t fork_generation() { return generation; }

void fork_gate::enter() {
  if (depth++ > 0) return;
  for (;;) {
    ++inside;
    if (forks == 0) return;
    count_down(inside);
    wait_while(forks);
  }
}

bool fork_gate::is_inside() { return depth > 0; }

void fork_gate::leave() {
  if (--depth == 0) count_down(inside);
}

}  // namespace tc
