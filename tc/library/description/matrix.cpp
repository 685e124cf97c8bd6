#include "tc/library/description/matrix.h"

#include <algorithm>
#include <utility>

namespace tc::library {

std::optional<Matrix> matrix_of(std::int64_t rows, std::int64_t columns, std::int64_t down, std::int64_t along,
                                Order order) {
  if (order == Order::Columns) {
    std::swap(rows, columns);
    std::swap(down, along);
  }
  auto leading = [](std::int64_t count, std::int64_t stride, std::int64_t width) -> std::optional<std::int64_t> {
    const auto value = count == 1 ? std::max<std::int64_t>(width, 1) : stride;
    return value >= width && value >= 1 ? std::optional(value) : std::nullopt;
  };
  if (along == 1 || columns == 1)
    if (auto value = leading(rows, down, columns)) return Matrix{false, *value};
  if (down == 1 || rows == 1)
    if (auto value = leading(columns, along, rows)) return Matrix{true, *value};
  return std::nullopt;
}

}  // namespace tc::library
