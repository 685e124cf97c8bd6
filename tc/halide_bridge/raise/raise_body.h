#pragma once

#include <Halide.h>

#include "tc/halide_bridge/lower/program.h"
#include "tc/halide_bridge/raise/raise_expr.h"
#include "tc/halide_bridge/stmt/element.h"
#include "tc/polyhedral/generate/generate.h"

namespace tc::halide_bridge {

/// The statement instance of \p site.
///
///   before  S1: C(i) += A(i, k) * B(k), accumulates; C[c0], A[c0, c1], B[c1]
///   after   C[c0] = C[c0] + A[c0*K + c1] * B[c1]
///
/// A read that is not exact takes its address from the subscripts of the source's value. A guarded read runs only where
/// its guard holds: by control flow in scalar code, by a predicate in a vector. In a vector loop, an accumulating
/// statement that writes one element combines its lanes.
Halide::Internal::Stmt raise_body(const polyhedral::Site& site, const polyhedral::Scop& scop, const Program& program,
                                  const Environment& environment, const Lanes& lanes);

}  // namespace tc::halide_bridge
