#pragma once

#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// Are \p a and \p b copies of one value, of the same objects of isl? Costs next to nothing; equal scops that were made
/// twice are not told from different ones.
bool are_copies(const Scop& a, const Scop& b);

}  // namespace tc::polyhedral
