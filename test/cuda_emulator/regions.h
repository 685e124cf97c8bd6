#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "test/cuda_emulator/emulator.h"
#include "test/cuda_emulator/shadow.h"

namespace tc::emulator {

/// Memory that kernels may touch: a tensor, or shared memory.
struct Region {
  std::uintptr_t begin = 0, end = 0;
  bool writable = true, shared = false;
  std::unique_ptr<Shadow> shadow;
  std::function<std::string(std::size_t offset)> element;  ///< names the element at a byte of it, for messages
  std::string name;
};

/// The regions of one launch, by address.
class Regions {
 public:
  void add(Region region);
  /// For a tensor; nothing for one without elements.
  void add(const Buffer& buffer);
  /// The region of the byte at \p address, or null.
  Region* find(std::uintptr_t address);
  /// \p address relative to the region that is nearest: "8 bytes behind the end of 'A'".
  std::string describe(std::uintptr_t address) const;

 private:
  std::vector<Region> regions_;
  std::size_t last_ = 0;
};

/// "A(3, 4)" for the byte \p offset behind the lowest element of \p view.
std::string element_name(const std::string& name, const TensorSpec& spec, std::size_t offset);

}  // namespace tc::emulator
