#include "tc/engine/supervise/supervise.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <memory>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <fstream>
#include <mutex>
#include <thread>

#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"
#include "tc/engine/supervise/left_behind.h"
#include "tc/polyhedral/core/isl.h"

namespace tc::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto tick = std::chrono::milliseconds(5);

/// Bytes of memory this process holds; 0 where the system does not say.
std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Work, shared by its thread and the one that waits for it.
class Job : public Supervision, public std::enable_shared_from_this<Job> {
 public:
  Job(const Cancellation& outer, std::function<void(Supervision&)> work) : Supervision(outer), work_(std::move(work)) {}

  void watch(polyhedral::Context* context) override {
    std::lock_guard lock(mutex_);
    context_ = context;
    if (stopped_) abort_isl();
  }

  /// In a thread of its own.
  void run() {
    {
      std::lock_guard lock(mutex_);
      thread_ = static_cast<pid_t>(syscall(SYS_gettid));
      if (abandoned_) leave_behind(thread_);
    }
    std::exception_ptr error;
    try {
      begin_work(thread_, [self = shared_from_this()] { self->stop(); });
      CancellationScope scope(cancellation());
      auto work = std::move(work_);
      work(*this);
    } catch (...) {
      error = std::current_exception();
    }
    std::lock_guard lock(mutex_);
    context_ = nullptr;
    error_ = std::move(error);
    ended_ = true;
    end_work(thread_);
    wake_.notify_all();
  }

  /// Waits for the end until \p time; whether it has come.
  bool wait_until(Clock::time_point time) {
    std::unique_lock lock(mutex_);
    return wake_.wait_until(lock, time, [this] { return ended_; });
  }

  void stop() {
    cancellation().cancel();
    std::lock_guard lock(mutex_);
    stopped_ = true;
    abort_isl();
  }

  /// Leaves the thread to itself, unless it has ended.
  void abandon() {
    std::lock_guard lock(mutex_);
    if (ended_) return;
    abandoned_ = true;
    if (thread_ != 0) leave_behind(thread_);
  }

  /// What the work threw; null: nothing. After its end.
  std::exception_ptr error() const { return error_; }

 private:
  void abort_isl() {
    if (context_) isl_ctx_abort(isl::ctx(*context_).get());
  }

  std::function<void(Supervision&)> work_;
  ForkMutex mutex_;
  std::condition_variable_any wake_;
  polyhedral::Context* context_ = nullptr;
  std::exception_ptr error_;
  pid_t thread_ = 0;
  bool ended_ = false, stopped_ = false, abandoned_ = false;
};

void* run_job(void* pointer) {
  std::unique_ptr<std::shared_ptr<Job>> job(static_cast<std::shared_ptr<Job>*>(pointer));
  (*job)->run();
  return nullptr;
}

/// Starts a thread that runs \p job, which nobody joins.
void start(const std::shared_ptr<Job>& job) {
  auto pointer = std::make_unique<std::shared_ptr<Job>>(job);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::size_t(64) << 20);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  int failed = pthread_create(&thread, &attributes, run_job, pointer.get());
  pthread_attr_destroy(&attributes);
  if (failed)
    throw ResourceError("the system has no thread for the compiler: too many are running, or memory is short");
  pointer.release();
}

/// The memory that \p limits leave to the work.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::size_t growth) : growth_(growth), before_(growth ? resident_bytes() : 0) {}

  bool reached() const { return growth_ != 0 && resident_bytes() > before_ + growth_; }
  [[noreturn]] void raise(const char* where) const {
    throw ResourceError(str("the memory limit of ", growth_, " bytes was reached in ", where));
  }

 private:
  std::size_t growth_, before_;
};

void wait_for_room(const Cancellation& cancellation) {
  while (left_behind() >= max_left_behind()) {
    cancellation.check("waiting for compiles that were left behind at their limits");
    std::this_thread::sleep_for(tick);
  }
}

/// Ends \p job, which has reached a limit. Throws what it throws where that tells the limit.
void stop(Job& job) {
  job.stop();
  bool ended =
      job.wait_until(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(grace)));
  if (!ended) return job.abandon();
  try {
    if (job.error()) std::rethrow_exception(job.error());
  } catch (const ResourceError&) {
    throw;
  } catch (...) {
  }
}

}  // namespace

void run_supervised(const Limits& limits, const char* where, std::function<void(Supervision&)> work) {
  limits.cancellation.check(where);
  wait_for_room(limits.cancellation);
  MemoryLimit memory(limits.memory);
  auto job = std::make_shared<Job>(limits.cancellation, std::move(work));
  start(job);
  while (!job->wait_until(Clock::now() + tick)) {
    note_work();
    bool too_large = memory.reached();
    if (!too_large && !limits.cancellation.requested()) continue;
    try {
      stop(*job);
    } catch (const ResourceError&) {
      if (!too_large) throw;
    }
    if (too_large) memory.raise(where);
    limits.cancellation.check(where);
  }
  if (job->error()) std::rethrow_exception(job->error());
}

}  // namespace tc::engine
