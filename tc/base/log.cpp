#include "tc/base/log.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "tc/base/fork.h"

namespace tc {
namespace {

ForkMutex sink_mutex;
LogSink sink;
std::atomic<bool> has_sink{false};

}  // namespace

void set_log_sink(LogSink new_sink) {
  std::lock_guard lock(sink_mutex);
  sink = std::move(new_sink);
  has_sink = static_cast<bool>(sink);
}

bool logging() { return has_sink; }

void log(LogLevel level, const std::string& message) {
  if (!logging()) return;
  std::lock_guard lock(sink_mutex);
  if (sink) sink(level, message);
}

}  // namespace tc
