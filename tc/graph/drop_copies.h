#pragma once

#include "tc/graph/graph.h"

namespace tc::graph {

/// \p graph without the nodes that only copy a tensor of the same type and shape to one between nodes: who reads the
/// copy reads the tensor. Safe, as a tensor does not change once it is written.
///
///   before  A = f(X)  B(i,j) = A(i,j)  Y = g(B)          after  A = f(X)  Y = g(A)
Graph drop_copies(Graph graph);

}  // namespace tc::graph
