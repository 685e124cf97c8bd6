#pragma once

#include <optional>
#include <string>

#include "tc/graph/graph.h"

namespace tc::engine {

/// The output in which \p b, a graph with the inputs and outputs of \p a, differs from \p a, in words; nothing where all are
/// equal, or where one has too many operations to be run by the interpreter. Both are run on small drawn integers; floats may differ by
/// rounding, because sums have another order.
std::optional<std::string> different_results(const graph::Graph& a, const graph::Graph& b);

}  // namespace tc::engine
