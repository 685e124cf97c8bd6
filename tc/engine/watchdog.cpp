#include "tc/engine/watchdog.h"

#include <unistd.h>

#include <fstream>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/isl.h"

namespace tc::engine {
namespace {

/// Bytes of memory this process holds; 0 where the system does not say.
std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

Watchdog::Watchdog(Cancellation cancellation, std::size_t memory_limit)
    : cancellation_(std::move(cancellation)),
      memory_limit_(memory_limit),
      memory_at_start_(memory_limit ? resident_bytes() : 0),
      thread_([this] { loop(); }) {}

Watchdog::~Watchdog() {
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Watchdog::watch(polyhedral::Context* context) {
  std::lock_guard lock(mutex_);
  context_ = context;
}

bool Watchdog::must_stop() const {
  if (cancellation_.requested()) return true;
  return memory_limit_ != 0 && resident_bytes() > memory_at_start_ + memory_limit_;
}

void Watchdog::check(const char* where) const {
  cancellation_.check(where);
  if (must_stop()) throw ResourceError(str("the memory limit of ", memory_limit_, " bytes was reached in ", where));
}

void Watchdog::loop() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::milliseconds(5), [this] { return ended_; }))
    if (context_ && must_stop()) isl_ctx_abort(isl::ctx(*context_).get());
}

}  // namespace tc::engine
