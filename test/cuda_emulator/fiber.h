#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tc::emulator {

/// Stacks for many threads of control inside one, of which one runs at a time.
class Fibers {
 public:
  /// The body of a fiber; it ends by suspending for good.
  using Entry = void (*)();

  Fibers();
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// Makes stacks for \p count fibers.
  void reserve(int count);
  /// The next resume of \p fiber begins \p entry on an empty stack.
  void prepare(int fiber, Entry entry);
  /// Runs \p fiber until it suspends.
  void resume(int fiber);
  /// Called by the running fiber: goes on after its resume().
  void suspend();
  bool on_a_stack(std::uintptr_t address) const { return address - low_ < high_ - low_; }

 private:
  struct Context;
  std::vector<std::unique_ptr<Context>> contexts_;
  std::unique_ptr<Context> caller_;
  int running_ = -1;
  char* memory_ = nullptr;
  std::size_t bytes_ = 0;
  std::uintptr_t low_ = 0, high_ = 0;
};

}  // namespace tc::emulator
