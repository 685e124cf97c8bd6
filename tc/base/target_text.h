#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tc/base/target.h"

/// What the texts of all kinds of targets share; for target*.cpp only.
namespace tc::target_text {

/// Throws the OptionsError that says why \p text is no target, and what is.
[[noreturn]] void reject(std::string_view text, const std::string& why);
/// The number of \p text, "48k", a part of the target text \p whole.
std::int64_t parse_size(std::string_view whole, const std::string& text);
/// \p bytes as "48k", "2m" or a plain number.
std::string size_text(std::int64_t bytes);

/// "cuda:" and \p fields, the architecture first.
Target parse_cuda(std::string_view text, const std::vector<std::string>& fields);
/// The architecture, the multiprocessors, and each limit that is not the architecture's.
std::string print_cuda(const Target& target);

}  // namespace tc::target_text
