#pragma once

#include <Halide.h>

namespace tc::cpu {

/// Sums of floats in vectors, some lanes of which a condition leaves out, keep these lanes: one masked multiply-add in the place of
/// a product, a selection and a sum.
///
///   before  acc[ramp] = acc[ramp] + select(mask, X[ramp] * x16(w), 0)
///   after   acc[ramp] = select(mask, acc[ramp] + X[ramp] * x16(w), acc[ramp])
///
/// Values are the same, but that a sum of -0 stays one where 0 would have been added.
Halide::Internal::Stmt mask_sums(const Halide::Internal::Stmt& body);

}  // namespace tc::cpu
