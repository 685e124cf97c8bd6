#pragma once

#include <functional>
#include <vector>

#include "tc/graph/partition.h"

namespace tc::engine {

/// Is \p part a call of a library?
using IsLibraryCall = std::function<bool(const graph::Part& part)>;

/// Is it worth it to cut \p whole into \p pieces, some of which are calls of a library? What stands behind a call in own code
/// stays in registers or caches, and is a pass of its own over the result of a call.
using CutPays = std::function<bool(const graph::Part& whole, const std::vector<graph::Part>& pieces)>;

/// \p parts, those cut further of which a library computes some neighbouring nodes and not all: these become a part, and
/// what stands before and behind them, where that pays. As many nodes as it takes go into one.
///
///   before  [ conv bias relu gelu ]        after  [ conv bias relu ] [ gelu ]
std::vector<graph::Part> cut_for_libraries(const graph::Graph& graph, const std::vector<graph::Part>& parts,
                                           const IsLibraryCall& is_call, const CutPays& pays);

}  // namespace tc::engine
