#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tc::cache {

/// What a file of the cache holds.
enum class Kind : std::uint32_t { Options = 1, Code = 2, Export = 3 };

/// Why there is not what was asked for.
enum class Fault : std::uint8_t {
  None,
  Absent,
  Unreadable,  ///< the file is there, but cannot or must not be read
  Damaged,
  Foreign,  ///< whole, but of another version or kind than this library reads
};

/// The bytes of a file: 8 of magic, format version, kind, length of the payload (little endian), the SHA-256 of all
/// this and the payload, the payload.
std::string seal(Kind kind, std::string_view payload);

/// A payload, or what is wrong with the bytes.
struct Unsealed {
  Fault fault = Fault::None;
  std::string_view payload;
};

/// The inverse of seal(): a byte more, less or otherwise makes a fault.
Unsealed unseal(Kind kind, std::string_view bytes);

}  // namespace tc::cache
