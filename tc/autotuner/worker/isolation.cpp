#include "tc/autotuner/worker/isolation.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace tc::autotuner {
namespace {

#if !defined(__SANITIZE_ADDRESS__)

/// Bytes of private memory that this process may write, touched or not.
std::size_t writable_memory() {
  std::ifstream in("/proc/self/statm");
  std::size_t pages = 0;
  for (int field = 0; field < 6; ++field) in >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Bytes of the stack of a thread.
std::size_t stack_bytes() {
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  ::pthread_getattr_default_np(&attributes);
  ::pthread_attr_getstacksize(&attributes, &bytes);
  ::pthread_attr_destroy(&attributes);
  return bytes;
}

#endif

}  // namespace

void die_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
}

void limit_memory([[maybe_unused]] std::size_t bytes, [[maybe_unused]] int threads) {
#if !defined(__SANITIZE_ADDRESS__)
  if (bytes == 0) return;
  auto limit = writable_memory() + bytes + static_cast<std::size_t>(threads) * stack_bytes();
  rlimit limits{limit, limit};
  ::setrlimit(RLIMIT_DATA, &limits);
#endif
}

}  // namespace tc::autotuner
