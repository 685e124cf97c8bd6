#include "tc/base/file_size_signal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace tc {
namespace {

/// How a process ends that may write 100 bytes to a file and writes 200, twice.
int end_of_writer(bool guarded) {
  pid_t child = ::fork();
  if (child == 0) {
    rlimit none{0, 0}, small{100, 100};
    ::setrlimit(RLIMIT_CORE, &none);
    ::setrlimit(RLIMIT_FSIZE, &small);
    FILE* file = std::tmpfile();
    char bytes[200] = {};
    for (int i = 0; i < 2; ++i) {
      if (guarded) {
        NoFileSizeSignal guard;
        ::lseek(::fileno(file), 100, SEEK_SET);
        if (::write(::fileno(file), bytes, sizeof bytes) >= 0 || errno != EFBIG) ::_exit(1);
      }
      sigset_t pending;
      ::sigpending(&pending);
      if (::sigismember(&pending, SIGXFSZ)) ::_exit(2);
    }
    if (!guarded) {
      ::lseek(::fileno(file), 100, SEEK_SET);
      [[maybe_unused]] auto written = ::write(::fileno(file), bytes, sizeof bytes);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(NoFileSizeSignal, MakesAWriteBeyondTheLimitFail) {
  int status = end_of_writer(true);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(NoFileSizeSignal, IsGoneAfterwards) {
  int status = end_of_writer(false);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
}

}  // namespace
}  // namespace tc
