#include "tools/flag_help.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <vector>

#include "tc/base/str.h"

namespace tc::tools {
namespace {

constexpr std::size_t column = 24;  ///< at which the meaning of a flag starts

std::string value_of(const gflags::CommandLineFlagInfo& flag) {
  if (flag.type == "bool") return "";
  return flag.type == "string" ? "=<text>" : "=<number>";
}

}  // namespace

std::string flags_of(const std::string& file) {
  std::vector<gflags::CommandLineFlagInfo> flags;
  gflags::GetAllFlags(&flags);
  std::string result;
  for (const auto& flag : flags) {
    if (flag.filename != file) continue;
    std::string text = str("  --", flag.name, value_of(flag));
    text.resize(std::max(text.size() + 1, column), ' ');
    auto fallback = flag.default_value.empty() || flag.type == "bool" ? "" : str(" (", flag.default_value, ")");
    result += str(text, flag.description, fallback, "\n");
  }
  return result;
}

}  // namespace tc::tools
