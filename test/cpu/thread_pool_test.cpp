#include "tc/cpu/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "tc/base/error.h"
#include "test/support/expect_error.h"

namespace tc::cpu {
namespace {

std::uint8_t* closure(void* data) { return static_cast<std::uint8_t*>(data); }

class ThreadPoolTest : public testing::Test {
 protected:
  void TearDown() override { set_num_threads(before_); }
  int before_ = num_threads();
};

int count_visit(void*, int index, std::uint8_t* data) {
  (*reinterpret_cast<std::vector<std::atomic<int>>*>(data))[index - 3]++;
  return 0;
}

TEST_F(ThreadPoolTest, EveryIndexRunsOnce) {
  for (int threads : {1, 2, 3, 17}) {
    set_num_threads(threads);
    EXPECT_EQ(num_threads(), threads);
    for (int extent : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> visits(extent);
      EXPECT_EQ(parallel_for(nullptr, count_visit, 3, extent, closure(&visits)), 0);
      for (int i = 0; i < extent; ++i) EXPECT_EQ(visits[i], 1) << i << " with " << threads << " threads";
    }
  }
}

TEST_F(ThreadPoolTest, TheFirstErrorIsReturnedAndEndsTheLoop) {
  set_num_threads(4);
  std::atomic<int> visits{0};
  auto body = [](void*, int index, std::uint8_t* data) {
    ++*reinterpret_cast<std::atomic<int>*>(data);
    return index == 0 ? -11 : 0;
  };
  EXPECT_EQ(parallel_for(nullptr, body, 0, 1 << 20, closure(&visits)), -11);
  EXPECT_LT(visits, 1 << 20);
}

TEST_F(ThreadPoolTest, ALoopInsideALoopStaysInItsThread) {
  set_num_threads(4);
  std::atomic<int> elsewhere{0};
  auto outer = [](void* user, int, std::uint8_t* data) {
    auto here = pthread_self();
    auto inner = [](void* user, int, std::uint8_t* data) {
      if (!pthread_equal(*static_cast<pthread_t*>(user), pthread_self())) ++*reinterpret_cast<std::atomic<int>*>(data);
      return 0;
    };
    return parallel_for(&here, inner, 0, 100, data);
  };
  EXPECT_EQ(parallel_for(nullptr, outer, 0, 64, closure(&elsewhere)), 0);
  EXPECT_EQ(elsewhere, 0);
}

TEST_F(ThreadPoolTest, AForkedChildRunsLoopsItself) {
  set_num_threads(4);
  std::vector<std::atomic<int>> visits(500);
  EXPECT_EQ(parallel_for(nullptr, count_visit, 3, 500, closure(&visits)), 0);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int status = parallel_for(nullptr, count_visit, 3, 500, closure(&visits));
    for (const auto& count : visits) status |= count != 2;
    _exit(status);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(ThreadPoolTest, ThereIsAtLeastOneThread) {
  EXPECT_ERROR(set_num_threads(0), OptionsError, "the number of threads is 0; it must be from 1 to 4096");
  EXPECT_ERROR(set_num_threads(-2), OptionsError, "the number of threads is -2; it must be from 1 to 4096");
  EXPECT_EQ(num_threads(), before_);
}

}  // namespace
}  // namespace tc::cpu
