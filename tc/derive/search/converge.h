#pragma once

#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

/// Converging steps of the scope of \p tensor towards a product of matrices: a copy or another order of dimensions for
/// one operand that does not fit, so that the expression distance is one less; a step for each view of it. None where the distance
/// is 0, or it is no product. With \p convolutions also towards a convolution as routines have it, if it is not one.
std::vector<Step> converge(const Program& program, const std::string& tensor, bool convolutions = false);

}  // namespace tc::derive
