#pragma once

#include <vector>

#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// The clusters of \p scop as scops of their own, to be run one after the other.
///
///   before  sequence { band [i] { S0 } { S1 } } { band [j] { S2 } }      after  band [i] { S0 } { S1 }    band [j] { S2 }
///
/// Statements keep their program order within each. A temporary that several of them touch is live across.
std::vector<Scop> split_kernels(const Scop& scop);

}  // namespace tc::polyhedral
