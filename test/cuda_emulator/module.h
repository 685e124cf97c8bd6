#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "test/cuda_emulator/kernel_text.h"

namespace tc::emulator {

/// Kernels of one text as a library loaded into this process.
class Module {
 public:
  using Call = void (*)(void** arguments);

  /// Compiles \p text with the machine's compiler, or takes what an earlier call made of it. Throws InternalError with
  /// the compiler's messages. TC_EMULATOR_CACHE names a folder that keeps libraries for later processes.
  static std::shared_ptr<const Module> load(const std::string& text);
  ~Module();

  /// Throws ArgumentError for a name that no kernel has.
  Call kernel(const std::string& name) const;
  const KernelSignature& signature(const std::string& name) const;
  /// The static shared arrays, one behind the other.
  char* shared() const { return shared_; }
  std::size_t shared_bytes() const { return shared_bytes_; }
  /// The smallest access to memory there is, in bytes; at most 4.
  int access_bytes() const { return access_bytes_; }
  /// Is \p address in the library: constants, and its code?
  bool contains(std::uintptr_t address) const { return address - low_ < high_ - low_; }
  /// A place in the text: of a return address in the library, or of a line.
  std::uint32_t site(std::uintptr_t address) const { return static_cast<std::uint32_t>(address - low_); }
  static std::uint32_t site_of_line(int line) { return 1u << 31 | static_cast<std::uint32_t>(line); }
  double compile_milliseconds() const { return compile_milliseconds_; }

  /// The line of the text that \p site stands for; 0 if unknown. Slow.
  int line(std::uint32_t site) const;
  /// The shared array \p offset bytes into shared() and the offset in it: "tile + 8". Slow.
  std::string shared_name(std::size_t offset) const;

 private:
  Module() = default;
  void open();

  std::string path_;
  std::vector<KernelSignature> kernels_;
  void* handle_ = nullptr;
  char* shared_ = nullptr;
  std::size_t shared_bytes_ = 0;
  int access_bytes_ = 4;
  std::uintptr_t low_ = 0, high_ = 0;
  double compile_milliseconds_ = 0;
};

}  // namespace tc::emulator
