#pragma once

#include <cstddef>
#include <vector>

namespace tc::engine {

/// Pointers of one launch; on the stack unless there are very many.
class PointerTable {
 public:
  explicit PointerTable(std::size_t size) {
    if (size > inlined_size) {
      large_.resize(size);
      data_ = large_.data();
    }
  }
  PointerTable(const PointerTable&) = delete;
  PointerTable& operator=(const PointerTable&) = delete;

  void*& operator[](std::size_t i) { return data_[i]; }
  void* const* data() const { return data_; }

 private:
  static constexpr std::size_t inlined_size = 64;
  void* inlined_[inlined_size];
  void** data_ = inlined_;
  std::vector<void*> large_;
};

}  // namespace tc::engine
