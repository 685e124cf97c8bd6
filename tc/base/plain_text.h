#pragma once

#include <string>
#include <string_view>

namespace tc {

/// Is \p text UTF-8 that only says what it shows? Control characters but the end of a line and the tabulator, with
/// which a text could command a terminal, and marks that reorder or hide what follows them make it false.
bool is_plain_text(std::string_view text);

/// \p text as one that is plain: each byte or character that is not becomes its number.
///
///   "a" ESC "[2J" 0xff       a\x1b[2J\xff
///   "a" U+202E "b"           a\u202eb
std::string plain_text(std::string_view text);

/// The character that \p text, which is not empty, begins with, and its bytes; -1, and 1, where that is no UTF-8.
struct Character {
  int code = -1;
  std::size_t size = 1;
};
Character first_character(std::string_view text);

}  // namespace tc
