#pragma once

#include <map>
#include <set>

#include "tc/base/target.h"
#include "tc/graph/partition.h"

namespace tc::engine {

/// \p dense, dimension by dimension from the innermost on with one cache line between what one index and the next select where
/// these would else begin in the same sets of the first cache of \p target, and are more than a set has lines.
///
///   float32(64, 128, 128)   strides (16384, 128, 1), 65536 bytes: 64 planes begin in one set
///                           strides (16400, 128, 1)               in 64 sets
TensorSpec spread_rows(const TensorSpec& dense, const Target& target);

/// The tensors between \p parts of \p graph that spread_rows() changes and that a part with a reduction reads or writes: it runs
/// across rows. Those of nodes \p apart, which do not run with the others, stay.
///
/// No price is asked: what a line is put between has 4096 bytes at least, so that 1.6 % more memory is touched at most.
std::map<std::size_t, TensorSpec> spread_tensors(const graph::Graph& graph, const std::vector<graph::Part>& parts,
                                                 const std::set<std::size_t>& apart, const Target& target);

}  // namespace tc::engine
