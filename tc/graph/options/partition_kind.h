#pragma once

#include <string>
#include <string_view>

namespace tc::graph {

/// Which nodes of a graph are compiled together.
enum class Partition {
  Auto,  ///< as the price of their tensors says, see partition()
  Each,  ///< every node by itself
  One,   ///< all: the def with its calls written out
};

/// "auto", "each", "one".
std::string to_string(Partition partition);
/// The inverse. Throws OptionsError that lists them.
Partition parse_partition(std::string_view text);

}  // namespace tc::graph
