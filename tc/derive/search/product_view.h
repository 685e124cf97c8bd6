#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tc/derive/form/program.h"

namespace tc::derive {

/// Elements between neighbours along each of the \p dimensions of a scope in a tensor of \p box, read or written at \p at; nothing
/// where it is not linear.
std::optional<std::vector<std::int64_t>> strides_of(const lang::Box& box, const isl::multi_aff& at, int dimensions);

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

/// \p scope as a product, with its groups in each order that one of the two operands they are in gives them, the least distance
/// first. None where it has other guards than those that keep reads inside of their tensors, which a copy makes needless, other
/// factors, iterators of one operand only, or no m, n or k.
std::vector<ProductView> product_views(const Program& program, const Scope& scope);
/// The first of them.
std::optional<ProductView> view_product(const Program& program, const Scope& scope);

}  // namespace tc::derive
