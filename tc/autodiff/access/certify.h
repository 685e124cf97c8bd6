#pragma once

#include <vector>

#include "tc/autodiff/access/guards.h"
#include "tc/autodiff/access/invert.h"

namespace tc::autodiff {

enum class CertificateKind {
  Parametric,  ///< isl proved the bijection for all sizes
  ByGuard,     ///< for all sizes; subscripts that are not affine are compared by guards, which holds by itself
  Missing,     ///< not proved
};

/// Proves that each instance of \p read whose subscripts are in \p box is exactly one instance of \p inverse, whose
/// guards are those that are printed: values is injective where ranges and guards hold, gives exactly the instances of
/// the read, and the subscripts of what it gives are the coordinates. Conditions on data stand on both sides and are left
/// out.
CertificateKind certify(const ReadAccess& read, const Inverse& inverse, const std::vector<IteratorRange>& box,
                        GuardProver& prover);

}  // namespace tc::autodiff
