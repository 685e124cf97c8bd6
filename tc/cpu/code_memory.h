#pragma once

#include <llvm/ExecutionEngine/RTDyldMemoryManager.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tc::cpu {

/// The memory of one object: its code, its constants and its variables in one mapping, in this order. Code reaches the other sections
/// by offsets of 32 bits, and LLVM's own SectionMemoryManager maps each section wherever the system has room, which may be farther off.
class CodeMemory : public llvm::RTDyldMemoryManager {
 public:
  CodeMemory() = default;
  ~CodeMemory() override;
  CodeMemory(const CodeMemory&) = delete;
  CodeMemory& operator=(const CodeMemory&) = delete;

  bool needsToReserveAllocationSpace() override { return true; }
  /// Maps the room for sections of these sizes. Where the system refuses it, no section gets memory.
  void reserveAllocationSpace(std::uintptr_t code_size, std::uint32_t code_alignment, std::uintptr_t constant_size,
                              std::uint32_t constant_alignment, std::uintptr_t variable_size,
                              std::uint32_t variable_alignment) override;
  std::uint8_t* allocateCodeSection(std::uintptr_t size, unsigned alignment, unsigned section,
                                    llvm::StringRef name) override;
  std::uint8_t* allocateDataSection(std::uintptr_t size, unsigned alignment, unsigned section, llvm::StringRef name,
                                    bool is_constant) override;
  /// Makes code executable, and code and constants read-only. True, with \p message, if the system refuses that.
  bool finalizeMemory(std::string* message) override;

 private:
  /// Pages with one protection, of which the first `used` bytes are given out.
  struct Part {
    std::uint8_t* begin = nullptr;
    std::size_t size = 0, used = 0;

    std::uint8_t* take(std::size_t bytes, std::size_t alignment);
    bool protect(int protection) const;
  };

  std::uint8_t* mapping_ = nullptr;
  std::size_t size_ = 0;
  Part code_, constants_, variables_;
};

}  // namespace tc::cpu
