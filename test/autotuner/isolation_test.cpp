#include "tc/autotuner/worker/isolation.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace tc::autotuner {
namespace {

/// The code with which a process ends that runs \p body.
int code_of(const std::function<int()>& body) {
  pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(DieWith, LeavesAProcessWhoseParentLives) {
  pid_t parent = ::getpid();
  EXPECT_EQ(code_of([&] { return die_with(parent), 7; }), 7);
}

/// The parent of the process that asks is gone, and its children are those of another one than init: as in containers,
/// and below service managers.
TEST(DieWith, EndsAProcessThatAnotherOneTookOver) {
  auto orphan = [] {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t parent = ::fork();
    if (parent == 0) {
      pid_t gone = ::getpid();
      if (::fork() == 0) {
        while (::getppid() == gone) ::usleep(1000);
        die_with(gone);
        ::_exit(7);
      }
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(parent, &status, 0);
    if (::wait(&status) < 0) return -1;
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(code_of(orphan), 1);
}

#ifndef __SANITIZE_ADDRESS__

constexpr std::size_t megabyte = std::size_t(1) << 20;

/// Can \p bytes be allocated and written?
bool can_write(std::size_t bytes) {
  std::unique_ptr<char[]> block(new (std::nothrow) char[bytes]);
  if (block) std::memset(block.get(), 1, bytes);
  return block != nullptr;
}

TEST(LimitMemory, IsOfWhatIsWritten) {
  auto write = [](std::size_t bytes) {
    return code_of([=] {
      limit_memory(64 * megabyte, 1);
      return can_write(bytes) ? 1 : 0;
    });
  };
  EXPECT_EQ(write(32 * megabyte), 1);
  EXPECT_EQ(write(256 * megabyte), 0);
}

TEST(LimitMemory, LeavesManyThreadsTheirStacks) {
  constexpr int threads = 200;
  auto run_all = [] {
    limit_memory(64 * megabyte, threads);
    std::barrier all(threads);
    std::vector<std::thread> started;
    try {
      for (int i = 0; i < threads; ++i)
        started.emplace_back([&] {
          std::unique_ptr<char[]> own(new char[megabyte / 16]);
          std::memset(own.get(), 1, megabyte / 16);
          all.arrive_and_wait();
        });
    } catch (const std::exception&) {
      ::_exit(1);
    }
    for (auto& thread : started) thread.join();
    return 0;
  };
  EXPECT_EQ(code_of(run_all), 0);
}

#endif

}  // namespace
}  // namespace tc::autotuner
