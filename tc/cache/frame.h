#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tc::cache {

/// What a file of the cache holds. Numbers are never given anew.
enum class Kind : std::uint32_t { Options = 1, Export = 3, Code = 4, Derivation = 5 };

/// Why there is not what was asked for.
enum class Fault : std::uint8_t {
  None,
  Absent,
  Unreadable,      ///< the file is there, but cannot or must not be read
  OutOfResources,  ///< it may be there: the process has no file descriptor or memory left to look
  Damaged,
  Foreign,      ///< whole, but of another version or kind than this library reads
  Unauthentic,  ///< whole, but not signed with the key of this user
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

/// The bytes that tell whether a file is a cache's, and whether one that begins with \p head is, or was before it was
/// cut short.
inline constexpr std::size_t magic_size = 8;
bool is_of_a_cache(std::string_view head);

}  // namespace tc::cache
