#pragma once

#include <string>

namespace tc::tools {

/// A line for each flag that \p file defines: its name and type, what it means, and its default.
std::string flags_of(const std::string& file);

}  // namespace tc::tools
