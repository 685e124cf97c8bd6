#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace tc {

/// Bytes of a page.
inline constexpr std::size_t page_bytes = 4096;

/// Memory that ends right before a page nobody may touch, and begins behind one where it fills whole pages.
template <typename T>
struct PageGuarded {
  using value_type = T;

  PageGuarded() = default;
  template <typename Other>
  PageGuarded(const PageGuarded<Other>&) {}

  T* allocate(std::size_t count) {
    const auto whole = whole_pages(count);
    void* base = mmap(nullptr, whole + 2 * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    char* first = static_cast<char*>(base) + page_bytes;
    if (whole > 0 && mprotect(first, whole, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    return reinterpret_cast<T*>(first + whole - count * sizeof(T));
  }
  void deallocate(T* data, std::size_t count) {
    const auto whole = whole_pages(count);
    munmap(reinterpret_cast<char*>(data + count) - whole - page_bytes, whole + 2 * page_bytes);
  }
  bool operator==(const PageGuarded&) const { return true; }

 private:
  static std::size_t whole_pages(std::size_t count) {
    return (count * sizeof(T) + page_bytes - 1) / page_bytes * page_bytes;
  }
};

/// Elements behind which nobody may read or write.
template <typename T>
using GuardedBuffer = std::vector<T, PageGuarded<T>>;

}  // namespace tc
