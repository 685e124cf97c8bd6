#include "tc/engine/supervise/left_behind.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tc/base/error.h"
#include "tc/base/fork.h"

namespace tc::engine {
namespace {

/// Work and the thread it is in.
struct Work {
  std::function<void()> stop;
  bool left = false;  ///< nobody waits for it
};

/// Lives until the process ends: threads may look at it then.
struct Registry {
  ForkMutex mutex;
  std::atomic<std::uint64_t> generation{0};  ///< of the process whose threads these are
  std::map<pid_t, Work> threads;
  std::atomic<int> count{0};  ///< of threads left behind, readable without the lock
  std::atomic<bool> ended{false};
  int watches = 0;

  /// What a fork has left to the child ran in threads that only the parent has.
  void forget_those_of_the_parent() {
    if (generation.exchange(fork_generation()) == fork_generation()) return;
    threads.clear();
    count = 0;
  }
  void count_left() {
    count = static_cast<int>(
        std::count_if(threads.begin(), threads.end(), [](const auto& each) { return each.second.left; }));
  }
};

Registry& registry() {
  static auto& instance = *new Registry;
  return instance;
}

struct Range {
  std::uintptr_t begin, end;
};

/// Where the instructions of the compiler are: no allocator runs there. Sorted out before a signal is sent.
std::vector<Range>& compiler_text() {
  static auto& instance = *new std::vector<Range>;
  return instance;
}

std::atomic<int> halted{0};

int add_compiler_text(dl_phdr_info* object, std::size_t, void* own) {
  std::string_view name = object->dlpi_name;
  auto is = [&](std::string_view library) { return name.find(library) != std::string_view::npos; };
  std::vector<Range> text;
  bool holds_own = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) continue;
    auto begin = object->dlpi_addr + segment.p_vaddr;
    text.push_back({begin, begin + segment.p_memsz});
    auto here = reinterpret_cast<std::uintptr_t>(own);
    holds_own = holds_own || (here >= begin && here < begin + segment.p_memsz);
  }
  if (holds_own || is("libLLVM") || is("libHalide") || is("libisl"))
    compiler_text().insert(compiler_text().end(), text.begin(), text.end());
  return 0;
}

std::uintptr_t program_counter([[maybe_unused]] const ucontext_t* context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(context->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return context->uc_mcontext.pc;
#else
  return 0;
#endif
}

/// Waits for ever where the thread stands in the compiler's own instructions, under no lock of this library; else returns,
/// to be called again.
void halt(int, siginfo_t*, void* context) {
  auto counter = program_counter(static_cast<const ucontext_t*>(context));
  bool inside = std::any_of(compiler_text().begin(), compiler_text().end(),
                            [&](const Range& range) { return counter >= range.begin && counter < range.end; });
  if (!inside || fork_gate::is_inside()) return;
  ++halted;
  for (;;) pause();
}

/// A real-time signal that the process does not use; 0: there is none.
int free_signal() {
  for (int signal = SIGRTMAX; signal >= SIGRTMIN; --signal) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) == 0 && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_DFL)
      return signal;
  }
  return 0;
}

/// Halts \p threads, for 200 ms at most: one that keeps out of the compiler's instructions is left to itself.
void halt_all(const std::set<pid_t>& threads) {
  int signal = free_signal();
  if (signal == 0) return;
  dl_iterate_phdr(add_compiler_text, reinterpret_cast<void*>(&halt_all));
  struct sigaction action = {};
  action.sa_sigaction = halt;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&action.sa_mask);
  if (sigaction(signal, &action, nullptr) != 0) return;
  for (auto thread : threads) {
    int before = halted;
    for (int attempt = 0; attempt < 200 && halted == before; ++attempt) {
      if (syscall(SYS_tgkill, getpid(), thread, signal) != 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

/// The threads that are at work.
std::map<pid_t, Work> at_work() {
  auto& all = registry();
  std::lock_guard lock(all.mutex);
  all.forget_those_of_the_parent();
  return all.threads;
}

/// Run by exit() before the destructors of what the threads use.
void at_exit() {
  if (!registry().ended.exchange(true)) stop_all_work();
}

/// Belongs to the main thread: exit() destroys the thread-local objects of its caller before all statics, also before those
/// that work has made since watch_exit().
struct EndOfMainThread {
  ~EndOfMainThread() {
    if (::gettid() == ::getpid()) at_exit();
  }
};

void watch_main_thread() { [[maybe_unused]] thread_local EndOfMainThread end; }

/// The main thread is, as a rule, the one that loads this library.
[[maybe_unused]] const bool watched_from_the_start = (watch_main_thread(), true);

/// Statics that work makes are destroyed before what was registered earlier runs, so each work registers, until there can be
/// no such statics any more.
void watch_exit(Registry& all) {
  constexpr int most_watches = 4096;
  if (all.watches < most_watches && std::atexit(at_exit) == 0) ++all.watches;
  watch_main_thread();
}

}  // namespace

int max_left_behind() { return std::max(4, static_cast<int>(std::thread::hardware_concurrency())); }

int left_behind() {
  auto& all = registry();
  return all.generation == fork_generation() ? all.count.load() : 0;
}

void begin_work(pid_t thread, std::function<void()> stop) {
  auto& all = registry();
  std::lock_guard lock(all.mutex);
  if (all.ended) throw CancelledError("the process is at its end: no work begins any more");
  all.forget_those_of_the_parent();
  watch_exit(all);
  all.threads[thread].stop = std::move(stop);
}

void note_work() {
  auto& all = registry();
  std::lock_guard lock(all.mutex);
  watch_exit(all);
}

void leave_behind(pid_t thread) {
  auto& all = registry();
  std::lock_guard lock(all.mutex);
  all.threads[thread].left = true;
  all.count_left();
  constexpr int lowest = 19;
  setpriority(PRIO_PROCESS, static_cast<id_t>(thread), lowest);
}

void end_work(pid_t thread) {
  auto& all = registry();
  std::lock_guard lock(all.mutex);
  all.threads.erase(thread);
  all.count_left();
}

AtWork::AtWork(const Cancellation& cancellation) : is_inside_(at_work().count(::gettid()) > 0) {
  if (!is_inside_) begin_work(::gettid(), [cancellation] { cancellation.cancel(); });
}

AtWork::~AtWork() {
  if (!is_inside_) end_work(::gettid());
}

void stop_all_work() {
  for (auto& [thread, work] : at_work()) work.stop();
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  while (!at_work().empty() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::set<pid_t> threads;
  for (auto& [thread, work] : at_work()) threads.insert(thread);
  if (!threads.empty()) halt_all(threads);
}

}  // namespace tc::engine
