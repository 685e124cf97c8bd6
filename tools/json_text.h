#pragma once

#include <string>

namespace tc::tools {

/// \p text as a string of JSON, of ASCII only.
std::string quoted(const std::string& text);

}  // namespace tc::tools
