#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <new>

namespace tc {

/// \p count elements that end right before a page nobody may touch, and begin behind one when they fill whole pages.
template <typename T>
class GuardedBuffer {
 public:
  explicit GuardedBuffer(std::size_t count) : count_(count) {
    const std::size_t page = 4096, bytes = count * sizeof(T), whole = (bytes + page - 1) / page * page;
    size_ = whole + 2 * page;
    base_ = static_cast<char*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED) throw std::bad_alloc();
    mprotect(base_, page, PROT_NONE);
    mprotect(base_ + page + whole, page, PROT_NONE);
    data_ = reinterpret_cast<T*>(base_ + page + whole - bytes);
  }
  ~GuardedBuffer() { munmap(base_, size_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  T* data() { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  std::size_t size() const { return count_; }
  T* begin() { return data_; }
  T* end() { return data_ + count_; }

 private:
  char* base_ = nullptr;
  std::size_t size_ = 0, count_ = 0;
  T* data_ = nullptr;
};

}  // namespace tc
