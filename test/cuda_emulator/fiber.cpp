#include "test/cuda_emulator/fiber.h"

#include <sys/mman.h>

#include <new>

#if defined(__x86_64__)
extern "C" void tc_emulator_switch_stack(void** from, void* to);

/// Saves what a call preserves on the stack it leaves and takes it from the one it enters.
asm(R"(
.text
.globl tc_emulator_switch_stack
.hidden tc_emulator_switch_stack
.type tc_emulator_switch_stack, @function
tc_emulator_switch_stack:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size tc_emulator_switch_stack, .-tc_emulator_switch_stack
)");
#else
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace tc::emulator {
namespace {

constexpr std::size_t page = 4096, stack_bytes = 128 << 10;

}  // namespace

#if defined(__x86_64__)

struct Fibers::Context {
  void* top = nullptr;

  void prepare(char* stack, Entry entry) {
    auto** at = reinterpret_cast<void**>(stack + stack_bytes - 64);
    *--at = nullptr;
    *--at = reinterpret_cast<void*>(entry);
    for (int saved = 0; saved < 6; ++saved) *--at = nullptr;
    top = at;
  }
  static void change(Context& from, Context& to) { tc_emulator_switch_stack(&from.top, to.top); }
};

#else

struct Fibers::Context {
  ucontext_t state;

  void prepare(char* stack, Entry entry) {
    getcontext(&state);
    state.uc_stack.ss_sp = stack + page;
    state.uc_stack.ss_size = stack_bytes - page;
    state.uc_link = nullptr;
    makecontext(&state, entry, 0);
  }
  static void change(Context& from, Context& to) { swapcontext(&from.state, &to.state); }
};

#endif

Fibers::Fibers() : caller_(std::make_unique<Context>()) {}

Fibers::~Fibers() {
  if (memory_) munmap(memory_, bytes_);
}

void Fibers::reserve(int count) {
  if (count <= static_cast<int>(contexts_.size())) return;
  if (memory_) munmap(memory_, bytes_);
  bytes_ = static_cast<std::size_t>(count) * stack_bytes;
  auto* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  memory_ = memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
  if (!memory_) throw std::bad_alloc();
  for (int i = 0; i < count; ++i) mprotect(memory_ + static_cast<std::size_t>(i) * stack_bytes, page, PROT_NONE);
  low_ = reinterpret_cast<std::uintptr_t>(memory_);
  high_ = low_ + bytes_;
  while (static_cast<int>(contexts_.size()) < count) contexts_.push_back(std::make_unique<Context>());
}

void Fibers::prepare(int fiber, Entry entry) {
  char* stack = memory_ + static_cast<std::size_t>(fiber) * stack_bytes;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(stack + page, stack_bytes - page);
#endif
  contexts_[static_cast<std::size_t>(fiber)]->prepare(stack, entry);
}

void Fibers::resume(int fiber) {
  running_ = fiber;
  Context::change(*caller_, *contexts_[static_cast<std::size_t>(fiber)]);
}

void Fibers::suspend() { Context::change(*contexts_[static_cast<std::size_t>(running_)], *caller_); }

}  // namespace tc::emulator
