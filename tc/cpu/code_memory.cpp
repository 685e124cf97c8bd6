#include "tc/cpu/code_memory.h"

#include <llvm/Support/Memory.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace tc::cpu {
namespace {

std::size_t page_size() {
  static const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

std::size_t rounded_up(std::size_t size, std::size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

/// Whole pages for \p size bytes, and one more: LLVM's sum counts the padding between sections from an aligned address.
std::size_t pages(std::size_t size) { return rounded_up(size, page_size()) + page_size(); }

}  // namespace

std::uint8_t* CodeMemory::Part::take(std::size_t bytes, std::size_t alignment) {
  const std::size_t at = rounded_up(used, std::max<std::size_t>(alignment, 1));
  if (at + bytes > size) return nullptr;
  used = at + bytes;
  return begin + at;
}

bool CodeMemory::Part::protect(int protection) const { return size == 0 || mprotect(begin, size, protection) == 0; }

CodeMemory::~CodeMemory() {
  deregisterEHFrames();
  if (mapping_) munmap(mapping_, size_);
}

void CodeMemory::reserveAllocationSpace(std::uintptr_t code_size, std::uint32_t, std::uintptr_t constant_size,
                                        std::uint32_t, std::uintptr_t variable_size, std::uint32_t) {
  const std::size_t sizes[] = {pages(code_size), pages(constant_size), pages(variable_size)};
  size_ = sizes[0] + sizes[1] + sizes[2];
  void* mapped = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return;
  mapping_ = static_cast<std::uint8_t*>(mapped);
  code_ = {mapping_, sizes[0]};
  constants_ = {mapping_ + sizes[0], sizes[1]};
  variables_ = {mapping_ + sizes[0] + sizes[1], sizes[2]};
}

std::uint8_t* CodeMemory::allocateCodeSection(std::uintptr_t size, unsigned alignment, unsigned, llvm::StringRef) {
  return code_.take(size, alignment);
}

std::uint8_t* CodeMemory::allocateDataSection(std::uintptr_t size, unsigned alignment, unsigned, llvm::StringRef,
                                              bool is_constant) {
  return (is_constant ? constants_ : variables_).take(size, alignment);
}

bool CodeMemory::finalizeMemory(std::string* message) {
  const bool done = code_.protect(PROT_READ | PROT_EXEC) && constants_.protect(PROT_READ);
  if (!done && message) *message = "the system makes no memory executable";
  if (code_.size > 0) llvm::sys::Memory::InvalidateInstructionCache(code_.begin, code_.used);
  return !done;
}

}  // namespace tc::cpu
