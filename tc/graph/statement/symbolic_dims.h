#pragma once

#include <map>
#include <string>
#include <vector>

#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/tree.h"

/// Sizes of the tensors of a graph as expressions over the symbolic sizes of its def.
namespace tc::graph {

/// One entry a dimension, null where it is a number; empty where all are.
using Dims = std::vector<lang::ExprPtr>;
/// What sizes of a def are that are no numbers.
using SizeExprs = std::map<std::string, lang::ExprPtr>;

/// The sizes of \p def that are symbolic where its parameters have \p dims.
///
///   def f(float(N,K) X), dims T + 1 and none        N: T + 1
SizeExprs symbolic_sizes(const lang::Def& def, const std::vector<Dims>& dims);

/// \p expr, over \p sizes, over symbolic sizes where \p symbolic says what some of its sizes are; null where it has none of these.
lang::ExprPtr symbolic_value(const lang::ExprPtr& expr, const lang::SizeMap& sizes, const SizeExprs& symbolic);

/// The extents of \p ranges, likewise.
Dims dims_of(const std::vector<lang::Range>& ranges, const lang::SizeMap& sizes, const SizeExprs& symbolic);

/// \p dims as a text, equal for equal expressions.
std::string to_text(const Dims& dims);

}  // namespace tc::graph
