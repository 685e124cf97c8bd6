#pragma once

#include <Halide.h>

#include <string>
#include <vector>

namespace tc::halide_bridge {

/// A call of \p function, which machine code is linked with or an emitter knows, for its effect.
inline Halide::Internal::Stmt function_call(const std::string& function, const std::vector<Halide::Expr>& arguments) {
  using Halide::Internal::Call;
  return Halide::Internal::Evaluate::make(Call::make(Halide::Int(32), function, arguments, Call::Extern));
}

}  // namespace tc::halide_bridge
