#pragma once

#include <optional>

#include "tc/halide_bridge/infer/def_state.h"
#include "tc/halide_bridge/infer/subscripts.h"

namespace tc::halide_bridge {

/// Infers the ranges of one statement, checks every subscript, and records ranges, preconditions, the target's box at
/// its first assignment, and errors in \p state.
void infer_statement(DefState& state, const lang::Statement& statement);

/// The second half of it: every subscript against its tensor's box, ranges of all iterators known.
/// \p ranges holds opaque values too.
void check_subscript(DefState& state, const Subscript& subscript, const Environment& ranges);

/// Decides \p condition on sizes, for a statement over \p ranges: true (wherever the statement has an instance), false
/// (it can never hold), or not known.
std::optional<bool> decide(DefState& state, const Halide::Expr& condition, const Environment& ranges);

}  // namespace tc::halide_bridge
