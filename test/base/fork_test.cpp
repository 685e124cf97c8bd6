#include "tc/base/fork.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "test/support/from_environment.h"

namespace tc {
namespace {

/// How a forked child ends that does \p work: 0, or the signal of its alarm.
int end_of_child(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(Fork, LocksThatOthersHoldAreFreeInAChild) {
  ForkMutex outer, inner;
  ForkSharedMutex shared;
  std::atomic<bool> ends{false};
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&] {
      while (!ends) {
        std::lock_guard a(outer);
        std::lock_guard b(inner);
        std::shared_lock c(shared);
      }
    });
  for (std::uint64_t i = 0; i < test::from_environment("TC_FORKS", 20); ++i)
    EXPECT_EQ(end_of_child([&] {
                std::lock_guard a(inner);
                std::lock_guard b(outer);
                std::unique_lock c(shared);
              }),
              0);
  ends = true;
  for (auto& other : others) other.join();
}

TEST(Fork, ManyThreadsForkAtOnce) {
  ForkMutex mutex;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 5; ++turn) EXPECT_EQ(end_of_child([&] { std::lock_guard lock(mutex); }), 0);
    });
  for (auto& thread : threads) thread.join();
}

TEST(Fork, AThreadMayForkUnderALock) {
  ForkMutex held, other;
  std::lock_guard lock(held);
  EXPECT_TRUE(fork_gate::is_inside());
  EXPECT_EQ(end_of_child([&] {
              std::lock_guard again(other);
              if (held.try_lock() || !fork_gate::is_inside()) ::abort();
            }),
            0);
}

TEST(Fork, GenerationsAreTold) {
  const auto here = fork_generation();
  EXPECT_EQ(end_of_child([&] {
              if (fork_generation() != here + 1) ::abort();
            }),
            0);
  EXPECT_EQ(fork_generation(), here);
}

}  // namespace
}  // namespace tc
