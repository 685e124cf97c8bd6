#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "tc/engine/run/workspace.h"
#include "tc/graph/partition.h"

namespace tc::engine {

/// Where tensors between parts have their memory, and how long it is used.
struct InPlaceMemory {
  std::map<std::size_t, Lifetime> lives;     ///< of the tensors with memory of their own
  std::map<std::size_t, std::size_t> homes;  ///< of the others, the tensor whose memory each has
};

/// The memory of tensors that live as \p lives says, where a part may write its result in place of an input that it is the last to
/// read. \p order are the numbers of the parts that run, \p input tells for each the input that its result may replace.
///
///   A = mul(X, W)   B = mul(X, V)   D = add(B, A)        D, of the size of A, lies where A lay
InPlaceMemory written_in_place(const std::vector<graph::Part>& parts, const std::vector<std::size_t>& order,
                               const std::function<std::optional<std::size_t>(std::size_t part)>& input,
                               std::map<std::size_t, Lifetime> lives);

}  // namespace tc::engine
