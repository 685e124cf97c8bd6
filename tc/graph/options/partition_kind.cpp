#include "tc/graph/options/partition_kind.h"

#include <array>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::graph {
namespace {

constexpr std::array<std::string_view, 3> names{"auto", "each", "one"};

}  // namespace

std::string to_string(Partition partition) { return std::string(names.at(static_cast<std::size_t>(partition))); }

Partition parse_partition(std::string_view text) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == text) return static_cast<Partition>(i);
  throw OptionsError(str("partition is 'auto', 'each' or 'one', not '", text, "'"));
}

}  // namespace tc::graph
