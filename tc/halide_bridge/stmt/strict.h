#pragma once

#include <Halide.h>

namespace tc::halide_bridge {

/// \p value, whose float operations keep their IEEE meaning: the code generator assumes nothing about NaN, infinity and zero.
inline Halide::Expr strict(const Halide::Expr& value) {
  using Halide::Internal::Call;
  return Call::make(value.type(), Call::strict_float, {value}, Call::PureIntrinsic);
}

/// What \p value is strict of; itself where it is not.
inline Halide::Expr without_strict(const Halide::Expr& value) {
  const auto* call = value.as<Halide::Internal::Call>();
  return call && call->is_intrinsic(Halide::Internal::Call::strict_float) ? without_strict(call->args[0]) : value;
}

}  // namespace tc::halide_bridge
