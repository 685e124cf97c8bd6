#pragma once

#include <Halide.h>

#include <optional>
#include <string>

namespace tc::cpu {

/// Bytes of a row of a tile.
inline constexpr int row_bytes = 64;

/// A matrix in a buffer, in elements: where it starts and how far its rows are apart.
struct TileMatrix {
  std::string buffer;
  Halide::Type type;
  Halide::Expr base;
  std::int64_t row = 0;
};

/// c(m, n) += sum over q < steps of a(m, q) b(q, n), of the `rows` and `columns` there are. Steps of `a` are
/// contiguous; those of `b` are rows of groups of as many as one lane sums, `width`, which stand side by side.
struct TileProduct {
  TileMatrix a, b, c;
  Halide::Expr rows, columns;
  int steps = 1, width = 1;
};

/// What a nest of loops around one store computes, if it is such a product.
std::optional<TileProduct> match_tile_product(const Halide::Internal::Stmt& nest);

}  // namespace tc::cpu
