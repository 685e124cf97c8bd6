#pragma once

#include <Halide.h>

#include <optional>

namespace tc::halide_bridge {

/// The arguments of c ? a : b.
struct Conditional {
  Halide::Expr condition, then_value, else_value;
};

/// The arguments of \p expr, which is Halide's select or if_then_else; nothing for any other.
std::optional<Conditional> as_conditional(const Halide::Expr& expr);
/// \p condition ? \p then_value : \p else_value, of which only the arm that is chosen runs.
Halide::Expr if_then_else(const Halide::Expr& condition, const Halide::Expr& then_value,
                          const Halide::Expr& else_value);

}  // namespace tc::halide_bridge
