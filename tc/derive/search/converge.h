#pragma once

#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

/// One converging step of the scope of \p tensor towards a product of matrices: a copy or another order of dimensions for
/// one operand that does not fit, so that the expression distance is one less. Nothing where it is 0, or it is none.
std::optional<Step> converge(const Program& program, const std::string& tensor);

}  // namespace tc::derive
