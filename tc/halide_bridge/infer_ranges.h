#pragma once

#include "tc/lang/ranges.h"

namespace tc::halide_bridge {

/// The ranges of every iterator and tensor of \p def (checked, without calls and lets), by forward inference in rounds
/// with Halide's interval solver, and the conditions on sizes that remain. \p text is the source, for messages.
///
///   def f(float(H) I, float(KH) K) -> (O) { O(h) +=! I(h+k) * K(k) }
///     k in [0, KH)   h in [0, H - KH + 1)   O: [0, H - KH + 1)
///
/// Throws SemanticError: an iterator without a range, a range that is provably empty-negative, a condition that can
/// never hold, a read of an unassigned tensor; with all errors of the def.
lang::Ranges infer_ranges(const lang::Def& def, const std::string& text, const std::string& name = "<tc>");

}  // namespace tc::halide_bridge
