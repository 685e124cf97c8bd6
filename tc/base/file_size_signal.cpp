#include "tc/base/file_size_signal.h"

#include <cerrno>
#include <ctime>

namespace tc {
namespace {

sigset_t the_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

NoFileSizeSignal::NoFileSizeSignal() {
  sigset_t pending, set = the_signal();
  sigpending(&pending);
  was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

NoFileSizeSignal::~NoFileSizeSignal() {
  const int error = errno;
  const sigset_t set = the_signal();
  const timespec at_once{0, 0};
  while (!was_pending_ && sigtimedwait(&set, nullptr, &at_once) < 0 && errno == EINTR) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

}  // namespace tc
