#pragma once

#include <Halide.h>

namespace tc::halide_bridge {

/// \p body where each float32 or float64 product that is added or subtracted at once is rounded once with the sum, as its expression says,
/// whatever code is made of the statements around it. For targets with the instruction. Of two products the second is.
///
///   before  s[i] = s[i] + a[i]*b[k]     after  s[i] = tc_fma_f32(a[i], b[k], s[i])
Halide::Internal::Stmt fuse_products(const Halide::Internal::Stmt& body);

}  // namespace tc::halide_bridge
