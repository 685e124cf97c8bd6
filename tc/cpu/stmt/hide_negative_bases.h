#pragma once

#include <Halide.h>

namespace tc::cpu {

/// \p body with the constant negative addresses of masked-off lanes written relative to a variable that is 0: Halide's
/// code generator refuses a load or store whose vector starts at a negative constant, even if that lane does not run.
///
///   before  x[ramp(-1, 1, 16)] if mask        after  let origin = 0 in x[ramp(origin + -1, 1, 16)] if mask
Halide::Internal::Stmt hide_negative_bases(const Halide::Internal::Stmt& body);

}  // namespace tc::cpu
