#pragma once

#include <map>

#include "tc/graph/graph.h"

namespace tc::graph {

/// \p graph with each node of \p by computed by that def: its parameters and returns are the operands of the node, its sizes are
/// numbers and it calls nothing. Unless it has loops, each of its statements becomes a call of a def of its own, so that they are gathered,
/// computed from constants and given to libraries as other nodes are.
///
///   Y = conv(X, W)       by def conv(...) { C(...) = W(...)  T(...) +=! X(...) * C(...)  Y(...) +=! T(...) }
///
///   conv_C = conv_1(W)   conv_T = conv_2(X, conv_C)   Y = conv_3(conv_T)
///
/// Throws SemanticError for a def that is none for these sizes, InternalError for one whose operands have other shapes.
Graph replace_nodes(const Graph& graph, const std::map<std::size_t, lang::Def>& by);

}  // namespace tc::graph
