#pragma once

#include <Halide.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tc::halide_bridge {

/// smaller <= larger + offset, of two iterators.
struct IteratorOrder {
  std::string smaller, larger;
  std::int64_t offset = 0;
};

/// \p condition as an order of two iterators, each with or without an integer added; nothing where it is none.
///
///   k <= i, k < i + 1, i + 2 >= k + 2      { k, i, 0 }
std::optional<IteratorOrder> iterator_order(const Halide::Expr& condition);

}  // namespace tc::halide_bridge
