#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tc::cache {

using Digest = std::array<std::uint8_t, 32>;

/// The SHA-256 of \p bytes.
Digest sha256(std::string_view bytes);

/// The first \p bytes bytes of \p digest in hexadecimal.
std::string hex(const Digest& digest, std::size_t bytes = 32);

}  // namespace tc::cache
