#pragma once

#include "tc/halide_bridge/infer/def_state.h"

namespace tc::halide_bridge {

/// Gives the returns that \p statement, one in a loop, reads before a statement of the def writes them the boxes that they are
/// declared with.
///
///   -> (float(T) H) { for t in 0:T { G(t) = t >= 1 ? H(t-1) : 0  H(t) = ... } }      H is [0, T) where G is inferred
void announce_returns(DefState& state, const lang::Statement& statement);

}  // namespace tc::halide_bridge
