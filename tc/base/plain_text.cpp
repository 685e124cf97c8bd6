#include "tc/base/plain_text.h"

#include <cstdio>

namespace tc {
namespace {

/// Controls of terminals, and of the direction and the place of what follows.
bool is_control(int code) {
  if (code == '\n' || code == '\t') return false;
  bool c0_or_c1 = code < 0x20 || (code >= 0x7f && code < 0xa0);
  bool direction = code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
                   (code >= 0x2066 && code <= 0x2069);
  return c0_or_c1 || direction;
}

std::string number_of(int code, std::string_view bytes) {
  char text[16];
  bool byte = code < 0 || code < 0x80;
  std::snprintf(text, sizeof text, byte ? "\\x%02x" : "\\u%04x",
                byte ? static_cast<unsigned char>(bytes[0]) : static_cast<unsigned>(code));
  return text;
}

}  // namespace

Character first_character(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned first = byte(0);
  if (first < 0x80) return {static_cast<int>(first), 1};
  std::size_t size = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first >= 0xf5 || text.size() < size) return {};
  int code = static_cast<int>(first & (0xffu >> (size + 1)));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  bool shorter = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  bool no_character = (code >= 0xd800 && code < 0xe000) || code > 0x10ffff;
  return shorter || no_character ? Character{} : Character{code, size};
}

bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    auto [code, size] = first_character(text);
    if (code < 0 || is_control(code)) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string plain_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    auto [code, size] = first_character(text);
    out += code < 0 || is_control(code) ? number_of(code, text) : std::string(text.substr(0, size));
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace tc
