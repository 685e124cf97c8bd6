#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>

namespace tc {

/// How many forks made this process out of the one that loaded the library: what a thread of another generation has
/// begun, nobody goes on with.
std::uint64_t fork_generation();

/// Keeps forks and sections under locks apart: a fork waits until no thread is in a section, and a thread that enters one
/// waits until no fork is under way.
namespace fork_gate {

/// The calling thread is in one section more. Waits for forks only where it was in none, so that locks may be nested.
void enter();
/// The calling thread is in one section less.
void leave();
/// Is the calling thread in a section? For signal handlers too.
bool is_inside();

}  // namespace fork_gate

/// While it lives no fork happens: for what is made once, where a child would wait for the thread that makes it.
class NoFork {
 public:
  NoFork() { fork_gate::enter(); }
  ~NoFork() { fork_gate::leave(); }
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;
};

/// \p Mutex, but free in a forked child: a fork first waits until nobody holds it. A section under it may take others, and
/// must not wait for a thread that takes one, nor for the interpreter lock of Python, whose holder may be who forks.
template <typename Mutex>
class ForkSafe {
 public:
  /// As of \p Mutex.
  void lock() {
    fork_gate::enter();
    mutex_.lock();
  }
  bool try_lock() {
    fork_gate::enter();
    if (mutex_.try_lock()) return true;
    fork_gate::leave();
    return false;
  }
  void unlock() {
    mutex_.unlock();
    fork_gate::leave();
  }
  void lock_shared() {
    fork_gate::enter();
    mutex_.lock_shared();
  }
  void unlock_shared() {
    mutex_.unlock_shared();
    fork_gate::leave();
  }

 private:
  Mutex mutex_;
};

using ForkMutex = ForkSafe<std::mutex>;
using ForkSharedMutex = ForkSafe<std::shared_mutex>;

}  // namespace tc
