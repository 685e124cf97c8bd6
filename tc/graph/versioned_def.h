#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "tc/graph/graph.h"
#include "tc/lang/syntax/substitute.h"

namespace tc::graph {

/// The def of \p node of \p graph with its sizes and the ranges of its iterators as numbers, and a tensor of its own for each
/// statement, where it overwrites elements from themselves alone. Its statements are as many and in the same order, but where
/// \p constants are given, parameters, those that split_affine() splits by these and by what they alone decide are two.
///
///   before  Y(n,k) +=! X(n,c) * W(k,c)   Y(n,k) = Y(n,k) + b(k)        after  Y_v0(n,k) +=! ...   Y(n,k) = Y_v0(n,k) + b(k)
///
/// Nothing where a tensor is written in parts or accumulated into, or subscripts are read from tensors.
std::optional<lang::Def> versioned_def(const Graph& graph, const Node& node,
                                       const std::optional<std::set<std::string>>& constants = std::nullopt);

/// What the names in the def of \p node become where its sizes are numbers and its tensors are called as \p tensors says.
lang::Substitution numeric_names(const Graph& graph, const Node& node,
                                 const std::map<std::string, std::string>& tensors);

/// Statement number \p index of the def of \p node with \p names, and the ranges of all iterators as numbers, as the parser gives it.
lang::Assignment numeric_statement(const Graph& graph, const Node& node, std::size_t index,
                                   const lang::Substitution& names);

}  // namespace tc::graph
