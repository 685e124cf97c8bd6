#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "tc/base/error.h"

namespace tc::cuda {

/// A driver library without a device behind it (fake_driver.cpp), which the process uses in place of libcuda. Device
/// memory is host memory, kernels do nothing, and each call is written down.
class FakeDriver {
 public:
  /// The calls since the last forget(), a line each: "cuMemAlloc 256".
  static std::string calls() { return library().calls(); }
  static void forget() { library().forget(); }
  /// The next call of \p function fails with \p code.
  static void fail(const char* function, int code) { library().fail(function, code); }
  /// What is_capturing says of every stream.
  static void capture(bool on) { library().capture(on); }
  /// The value of the byte that the next copy to the host gives; -1: what stands in memory.
  static void give_byte(int value) { library().give_byte(value); }
  /// The blocks of memory that are allocated.
  static int blocks() { return library().blocks(); }

 private:
  struct Library {
    const char* (*calls)() = nullptr;
    void (*forget)() = nullptr;
    void (*fail)(const char*, int) = nullptr;
    void (*capture)(int) = nullptr;
    void (*give_byte)(int) = nullptr;
    int (*blocks)() = nullptr;
  };
  static const Library& library() {
    static const Library instance = [] {
      void* handle = dlopen(TC_FAKE_DRIVER, RTLD_NOW);
      if (!handle) throw InternalError(dlerror());
      Library result;
      auto bind = [&](const char* name, auto*& pointer) {
        pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(dlsym(handle, name));
      };
      bind("fake_calls", result.calls);
      bind("fake_forget", result.forget);
      bind("fake_fail", result.fail);
      bind("fake_capture", result.capture);
      bind("fake_give_byte", result.give_byte);
      bind("fake_blocks", result.blocks);
      return result;
    }();
    return instance;
  }
};

}  // namespace tc::cuda
