#include "tc/graph/options/layout_mode.h"

#include <array>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::graph {
namespace {

constexpr std::array<std::string_view, 8> mode_names{"off",      "constants", "resolve",  "fold",
                                                     "adjacent", "forward",   "backward", "measured"};

}  // namespace

std::string to_string(LayoutMode mode) { return std::string(mode_names.at(static_cast<std::size_t>(mode))); }

LayoutMode parse_layout_mode(std::string_view text) {
  for (std::size_t i = 0; i < mode_names.size(); ++i)
    if (mode_names[i] == text) return static_cast<LayoutMode>(i);
  throw OptionsError(
      str("layouts of a graph are 'off', 'constants', 'resolve', 'fold', 'adjacent', 'forward', 'backward' or "
          "'measured', not '",
          text, "'"));
}

}  // namespace tc::graph
