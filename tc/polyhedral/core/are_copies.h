#pragma once

#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// Are \p a and \p b copies of one value, of the same objects of isl but schedules, which may be alike node by node? Costs
/// next to nothing; other equal scops that were made twice are not told from different ones.
bool are_copies(const Scop& a, const Scop& b);

}  // namespace tc::polyhedral
