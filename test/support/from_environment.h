#pragma once

#include <cstdint>
#include <cstdlib>
#include <ranges>

namespace tc::test {

/// The number in the environment variable \p name; \p otherwise where it is not set or empty.
inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// The seeds of random programs of the polyhedral floors: TC_RANDOM_SCOPS (24), times \p times and divided by \p parts, from
/// TC_RANDOM_FIRST (0) on.
inline std::ranges::iota_view<unsigned, unsigned> seeds_of_scops(unsigned times = 1, unsigned parts = 1) {
  const auto first = static_cast<unsigned>(from_environment("TC_RANDOM_FIRST", 0));
  return {first, first + times * static_cast<unsigned>(from_environment("TC_RANDOM_SCOPS", 24)) / parts};
}

}  // namespace tc::test
