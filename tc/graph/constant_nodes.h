#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "tc/graph/graph.h"

namespace tc::graph {

/// The nodes of \p graph that read its inputs \p constants, and nothing that a run decides; its results are written by each run.
std::set<std::size_t> decided_nodes(const Graph& graph, const std::set<std::string>& constants);

/// The tensors of \p graph that are its inputs \p constants or are written by one of \p nodes.
std::set<std::size_t> held_tensors(const Graph& graph, const std::set<std::string>& constants,
                                   const std::set<std::size_t>& nodes);

/// The nodes of \p graph that its inputs \p constants alone decide, and that are worth computing once: a node that is
/// read by others than these stays with its readers where its results are larger than what it reads, unless it reduces
/// that; and the results of the graph are written by each run.
///
///   main(X, W, g) { S = scale(W, g)  Y = fc(X, S)  B(i,j) = g(j)  Z = add(Y, B) }     constants W, g: S, not B
std::set<std::size_t> constant_nodes(const Graph& graph, const std::set<std::string>& constants);

}  // namespace tc::graph
