#pragma once

#include <map>
#include <set>

#include "tc/base/target.h"
#include "tc/graph/partition.h"

namespace tc::engine {

/// \p dense with a cache line of padding in each dimension, from the innermost on, whose consecutive slices would
/// otherwise begin in the same sets of the first cache of \p target, if there are more slices than ways.
///
///   float32(64, 128, 128)   strides (16384, 128, 1), 65536 bytes: 64 planes begin in one set
///                           strides (16400, 128, 1)               in 64 sets
TensorSpec spread_rows(const TensorSpec& dense, const Target& target);

/// The tensors between \p parts of \p graph that spread_rows() changes and that a part with a reduction reads or
/// writes, because a reduction accesses several rows together. Tensors of nodes \p apart, which do not run with the
/// others, stay dense.
///
/// No price is needed, because slices have at least 4096 bytes, so at most 1.6 % more memory is accessed.
std::map<std::size_t, TensorSpec> spread_tensors(const graph::Graph& graph, const std::vector<graph::Part>& parts,
                                                 const std::set<std::size_t>& apart, const Target& target);

}  // namespace tc::engine
