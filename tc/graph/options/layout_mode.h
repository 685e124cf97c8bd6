#pragma once

#include <string>
#include <string_view>

namespace tc::graph {

/// How the tensors between the nodes of a graph get their layouts.
enum class LayoutMode {
  Off,        ///< they are dense, in the order of their dimensions
  Constants,  ///< constants get those that nodes would copy them into in each run, where that costs less; others are dense
  Resolve,  ///< those of least price; a node takes its tensors as it likes them, or as they are
  Fold,  ///< the same, and a node may take or give some tensors as they are, so that a conversion becomes a part of it
  Adjacent,  ///< those of least price for nodes that reduce; a node beside them converts, and passes no layout on
  Forward,   ///< node by node from the inputs on: each takes its inputs as they are produced
  Backward,  ///< node by node from the results on: each gives its result as it is read
  Measured,  ///< that of Constants and Resolve which runs faster, measured in turns when a graph is compiled
};

/// "off", "constants", "resolve", "fold", "adjacent", "forward", "backward", "measured".
std::string to_string(LayoutMode mode);
/// The inverse. Throws OptionsError that lists them.
LayoutMode parse_layout_mode(std::string_view text);

}  // namespace tc::graph
