#include "tools/json_text.h"

#include <cstdio>

#include "tc/base/plain_text.h"

namespace tc::tools {
namespace {

std::string escaped(int unit) {
  char code[16];
  std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(unit));
  return code;
}

/// The character \p code in units of 16 bits.
std::string escaped_character(int code) {
  if (code < 0x10000) return escaped(code);
  code -= 0x10000;
  return escaped(0xd800 + (code >> 10)) + escaped(0xdc00 + (code & 0x3ff));
}

}  // namespace

std::string quoted(const std::string& text) {
  constexpr int no_character = 0xfffd;
  std::string out = "\"";
  for (std::string_view rest = text; !rest.empty();) {
    auto [code, size] = first_character(rest);
    rest.remove_prefix(size);
    if (code == '"' || code == '\\')
      out += {'\\', static_cast<char>(code)};
    else if (code >= 0x20 && code < 0x7f)
      out += static_cast<char>(code);
    else
      out += escaped_character(code < 0 ? no_character : code);
  }
  return out + '"';
}

}  // namespace tc::tools
