#pragma once

#include <cstdint>
#include <optional>

namespace tc::library {

/// The order of the elements of a matrix that BLAS is told of.
enum class Order : std::uint8_t { Rows, Columns };

/// A matrix as BLAS is told of it, for one order of the elements.
struct Matrix {
  bool transposed = false;
  std::int64_t leading = 1;  ///< elements between rows, or columns
};

/// A matrix of \p rows and \p columns whose elements are \p down and \p along apart, for \p order; nothing if none of the
/// two is 1, or if rows overlap.
std::optional<Matrix> matrix_of(std::int64_t rows, std::int64_t columns, std::int64_t down, std::int64_t along,
                                Order order);

}  // namespace tc::library
