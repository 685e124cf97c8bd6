#pragma once

#include <optional>
#include <vector>

#include "tc/derive/form/program.h"

namespace tc::derive {

/// Where a product of matrices lies in memory: may its two dimensions be fused of the iterators they are made of, by one
/// stride each, one of them without gaps?
struct OperandView {
  std::size_t read = 0;  ///< of the case; of the result: not used
  bool fits = false;
  std::vector<int> order;  ///< the dimensions that a copy that fits would have: batch, rows, columns
};

/// A sum of products of two factors, its iterators by membership: the table of the paper.
///
///              b    m    n    k
///   result     x    x    x
///   first      x    x         x
///   second     x         x    x
struct ProductView {
  std::vector<int> b, m, n, k;  ///< dimensions of the scope, in the order they are fused
  OperandView first, second, result;

  /// How many operands have to be copied before it is a product of matrices: the expression distance.
  int distance() const { return !first.fits + !second.fits + !result.fits; }
};

/// \p scope as a product; nothing where it has guards, other factors, iterators of one operand only, or no m, n or k.
std::optional<ProductView> view_product(const Program& program, const Scope& scope);

}  // namespace tc::derive
