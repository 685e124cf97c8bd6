#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tc::cache {

/// Appends the \p count lowest bytes of \p value to \p out, the lowest first.
inline void put_bytes(std::string& out, std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) out += static_cast<char>(value >> (8 * i));
}

/// The inverse, for the bytes from \p at on, which are there.
inline std::uint64_t get_bytes(std::string_view bytes, std::size_t at, int count) {
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i)
    value |= std::uint64_t(static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)])) << (8 * i);
  return value;
}

}  // namespace tc::cache
