#include "tc/base/cache_size.h"

#include <cstdlib>
#include <fstream>
#include <string>

namespace tc {
namespace {

template <typename Value>
Value read_from(const std::filesystem::path& file) {
  Value value{};
  std::ifstream(file) >> value;
  return value;
}

/// "48K", "32M": units of 1024 bytes.
std::int64_t bytes_of(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789KMG") != std::string::npos || text.size() > 12) return 0;
  const auto unit = std::string("KMG").find(text.back());
  return std::strtoll(text.c_str(), nullptr, 10) << (unit == std::string::npos ? 0 : 10 * (unit + 1));
}

}  // namespace

std::optional<std::int64_t> cache_size(int level, const std::filesystem::path& folder) {
  for (int index = 0;; ++index) {
    const auto cache = folder / ("index" + std::to_string(index));
    const auto type = read_from<std::string>(cache / "type");
    if (type.empty()) return std::nullopt;
    if (type == "Instruction" || read_from<int>(cache / "level") != level) continue;
    const auto bytes = bytes_of(read_from<std::string>(cache / "size"));
    return bytes > 0 ? std::optional(bytes) : std::nullopt;
  }
}

}  // namespace tc
