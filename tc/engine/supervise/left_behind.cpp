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
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

namespace tc::engine {
namespace {

struct Registry {
  std::mutex mutex;
  std::set<pid_t> threads;
  std::atomic<int> count{0};  ///< of threads, readable without the lock
  bool watches_exit = false;
};

/// Lives until the process ends: threads may look at it then.
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

/// Waits for ever where the thread stands in the compiler's own instructions; else returns, to be called again.
void halt(int, siginfo_t*, void* context) {
  auto counter = program_counter(static_cast<const ucontext_t*>(context));
  bool inside = std::any_of(compiler_text().begin(), compiler_text().end(),
                            [&](const Range& range) { return counter >= range.begin && counter < range.end; });
  if (!inside) return;
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

/// Run by exit() before the destructors of what the threads use.
void at_exit() {
  auto& all = registry();
  for (int i = 0; i < 20 && all.count > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::unique_lock lock(all.mutex, std::try_to_lock);
  if (lock && !all.threads.empty()) halt_all(all.threads);
}

void forget_all_in_child() {
  auto& all = registry();
  all.threads.clear();
  all.count = 0;
  all.mutex.unlock();
}

}  // namespace

int max_left_behind() { return std::max(4, static_cast<int>(std::thread::hardware_concurrency())); }

int left_behind() { return registry().count; }

void leave_behind(pid_t thread) {
  auto& all = registry();
  std::lock_guard lock(all.mutex);
  if (!all.watches_exit) {
    std::atexit(at_exit);
    pthread_atfork([] { registry().mutex.lock(); }, [] { registry().mutex.unlock(); }, forget_all_in_child);
    all.watches_exit = true;
  }
  all.threads.insert(thread);
  all.count = static_cast<int>(all.threads.size());
  constexpr int lowest = 19;
  setpriority(PRIO_PROCESS, static_cast<id_t>(thread), lowest);
}

void forget_left_behind(pid_t thread) {
  auto& all = registry();
  std::lock_guard lock(all.mutex);
  all.threads.erase(thread);
  all.count = static_cast<int>(all.threads.size());
}

}  // namespace tc::engine
