#pragma once

#include <string>

namespace tc::tools {

/// \p text as a string of JSON, of ASCII only. Bytes that are no UTF-8 become U+FFFD.
std::string quoted(const std::string& text);

}  // namespace tc::tools
