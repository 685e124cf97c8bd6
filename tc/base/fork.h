#pragma once

#include <cstdint>
#include <mutex>

namespace tc {

/// How many forks made this process out of the one that loaded the library: what a thread of another generation has
/// begun, nobody goes on with.
std::uint64_t fork_generation();

/// A mutex that is free in a forked child: a fork first waits for who holds it. For short sections that take no other
/// one.
class ForkMutex {
 public:
  ForkMutex();
  ~ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

  /// As of std::mutex.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

}  // namespace tc
