#pragma once

#include <cstdint>
#include <cstdlib>

namespace tc::test {

/// The number in the environment variable \p name; \p otherwise where it is not set or empty.
inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace tc::test
