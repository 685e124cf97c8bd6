#pragma once

#include <set>
#include <string>

#include "tc/halide_bridge/lower/program.h"

namespace tc::halide_bridge {

/// Which updates become ragged loops.
struct RaggedOptions {
  std::set<std::string> named;  ///< iterators that stay iterators
  int vector_bytes = 0;         ///< of a vector that may run along the loop; 0: none does
  bool scatters =
      true;  ///< also updates whose target has the iterator in a subscript: rows then run one after the other
};

/// \p program with updates that change nothing unless an iterator lies between two elements as updates that loop from one element to
/// the other: the rows of a matrix in CSR take time proportional to its entries.
///
///   before  S1[r,d,j]:  Y(r, d) += if_then_else(P(r) <= j, if_then_else(j < P(r + 1), X(C(j), d), 0), 0)
///   after   S1[r,d]:    Y(r, d) += X(C(j), d)       for j from P(r) to P(r + 1) - 1
///
/// The two bounds are the first conditions of the value, depend on at least `least_rows` combinations of other iterators, and read
/// tensors; the other conditions stay in the value. The range of the iterator still holds:
/// bounds outside of it are moved to its ends. A sum of -0 stays -0 where 0 would have been added.
Program ragged_updates(const Program& program, const RaggedOptions& options);

}  // namespace tc::halide_bridge
