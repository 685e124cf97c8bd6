#pragma once

#include <signal.h>

namespace tc {

/// While it lives, a write of this thread beyond the limit of file sizes (RLIMIT_FSIZE, `ulimit -f`) only fails, with
/// EFBIG, where the signal SIGXFSZ would end the process.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal();
  ~NoFileSizeSignal();
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace tc
