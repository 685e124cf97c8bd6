#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "test/cache/cache_fixture.h"

/// The file functions of the C library, which fail or kill the process at the n-th call.
namespace {

int calls = 0;      ///< of file functions since arm()
int fail_at = 0;    ///< the call that fails; 0: none
int fail_with = 0;  ///< errno, 0: SIGKILL
bool for_ever = false;

void arm(int at, int error, bool all_later) {
  calls = 0;
  fail_at = at;
  fail_with = error;
  for_ever = all_later;
}

/// Does this call fail?
bool fails() {
  ++calls;
  if (fail_at == 0 || (for_ever ? calls < fail_at : calls != fail_at)) return false;
  if (fail_with == 0) ::kill(::getpid(), SIGKILL);
  errno = fail_with;
  return true;
}

}  // namespace

extern "C" {
int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return fails() ? -1 : static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
}
ssize_t write(int file, const void* bytes, size_t size) {
  return fails() ? -1 : ::syscall(SYS_write, file, bytes, size);
}
ssize_t read(int file, void* bytes, size_t size) { return fails() ? -1 : ::syscall(SYS_read, file, bytes, size); }
int fsync(int file) { return fails() ? -1 : static_cast<int>(::syscall(SYS_fsync, file)); }
int fstat(int file, struct stat* info) noexcept {
  return fails() ? -1 : static_cast<int>(::syscall(SYS_newfstatat, file, "", info, AT_EMPTY_PATH));
}
int mkdir(const char* path, mode_t mode) noexcept {
  return fails() ? -1 : static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}
int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  return fails() ? -1 : static_cast<int>(::syscall(SYS_mkdirat, folder, path, mode));
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  return fails() ? -1 : static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, 0));
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  return fails() ? -1 : static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  return fails() ? -1 : static_cast<int>(::syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  return fails() ? -1 : static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags));
}
int close(int file) {
  bool failed = fails();
  int result = static_cast<int>(::syscall(SYS_close, file));
  return failed ? -1 : result;
}
}

namespace tc::cache {
namespace {

/// A folder for a cache and the key of its code, neither of which exist.
struct Fresh : TemporaryFolder {
  Fresh() : TemporaryFolder(in_memory()) { ::setenv("TC_CACHE_KEY", (*this / "state/key").c_str(), 1); }
};

/// How many calls a put of each part takes.
int calls_of_puts() {
  Fresh folder;
  Cache cache(in(folder / "cache"));
  arm(0, 0, false);
  EXPECT_TRUE(cache.put(tuned(key, 8, 100)));
  EXPECT_TRUE(cache.put(code(key, "image")));
  int result = calls;
  arm(0, 0, false);
  return result;
}

TEST(Faults, TheFunctionsAreOurs) { EXPECT_GT(calls_of_puts(), 15); }

/// Whatever fails, once or for ever: nothing is thrown, what was acknowledged is found, what is found is right.
TEST(Faults, AFailingDiskIsAMiss) {
  const int total = calls_of_puts();
  int failed = 0;
  for (int error : {ENOSPC, EIO, EACCES, EMFILE, ESTALE})
    for (bool all_later : {false, true})
      for (int at = 1; at <= total; ++at) {
        Fresh folder;
        Cache cache(in(folder / "cache"));
        arm(at, error, all_later);
        bool options = cache.put(tuned(key, 8, 100)), machine_code = cache.put(code(key, "image"));
        arm(0, 0, false);
        failed += !options + !machine_code;
        auto where = str("error ", error, " at call ", at, all_later ? " and later" : "");
        EXPECT_TRUE(!options || cache.best(key)) << where;
        EXPECT_TRUE(!machine_code || cache.find_code(key, "tile=32x32", "def mm(...)")) << where;
        EXPECT_TRUE((options && machine_code) || !cache.take_warnings().empty()) << where;
        EXPECT_TRUE(verify(folder / "cache").empty()) << where;
        EXPECT_TRUE(cache.put(code(key, "another image"))) << where;
      }
  EXPECT_GT(failed, 5 * 2 * 10);
}

TEST(Faults, AFailingReadIsAMiss) {
  TemporaryFolder folder(in_memory());
  ASSERT_TRUE(Cache(in(folder / "cache")).put(tuned(key, 8, 100)));
  ASSERT_TRUE(Cache(in(folder / "cache")).put(code(key, "image")));
  int missed = 0, found = 0;
  for (int error : {EIO, EACCES, EMFILE, ESTALE, ENOMEM})
    for (int at = 1; at <= 6; ++at) {
      Cache cache(in(folder / "cache"));
      arm(at, error, false);
      auto options = cache.best(key);
      auto machine_code = cache.find_code(key, "tile=32x32", "def mm(...)");
      arm(0, 0, false);
      missed += !options + !machine_code;
      found += !!options + !!machine_code;
      EXPECT_TRUE(cache.best(key));
    }
  EXPECT_GE(missed, 5);
  EXPECT_GE(found, 5);
}

/// The process dies before each of its calls in turn.
TEST(Faults, AKillAtAnyCallLeavesWholeEntries) {
  const int total = calls_of_puts();
  for (int at = 1; at <= total; ++at) {
    Fresh folder;
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    pid_t child = ::fork();
    if (child == 0) {
      Cache cache(in(folder / "cache"));
      arm(at, 0, false);
      char acknowledged = 0;
      if (cache.put(tuned(key, 8, 100))) ::syscall(SYS_write, ends[1], &++acknowledged, 1);
      if (cache.put(code(key, "image"))) ::syscall(SYS_write, ends[1], &++acknowledged, 1);
      ::_exit(0);
    }
    ::close(ends[1]);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << at;
    int acknowledged = 0;
    for (char n; ::read(ends[0], &n, 1) == 1;) acknowledged = n;
    ::close(ends[0]);
    Cache cache(in(folder / "cache"));
    EXPECT_TRUE(acknowledged < 1 || cache.best(key)) << at;
    EXPECT_TRUE(acknowledged < 2 || cache.find_code(key, "tile=32x32", "def mm(...)")) << at;
    EXPECT_TRUE(verify(folder / "cache").empty()) << at;
    EXPECT_TRUE(cache.take_warnings().empty()) << at;
    EXPECT_TRUE(cache.put(code(key, "another image"))) << at << ": the key is whole, or there is none";
  }
}

}  // namespace
}  // namespace tc::cache
