#pragma once

#include <optional>

#include "tc/halide_bridge/infer/def_state.h"
#include "tc/halide_bridge/infer/subscripts.h"

namespace tc::halide_bridge {

/// Infers the ranges of one statement, checks every subscript, and records ranges, preconditions, the target's box at
/// its first assignment, and errors in \p state.
/// Indices on the left that nothing in the statement bounds have the ranges that \p later, a later statement on the same
/// tensor, gives the indices in their places, unless that is null.
void infer_statement(DefState& state, const lang::Statement& statement, const lang::Assignment* later = nullptr);

/// Does \p assignment, which makes a tensor of sizes that no return declares, leave an index on the left to what later
/// statements on the tensor say?
bool waits_for_later(const DefState& state, const lang::Assignment& assignment);

/// Does \p later give ranges to all indices of \p assignment that wait for it?
bool gives_ranges(DefState& state, const lang::Assignment& assignment, const lang::Assignment& later);

/// The second half of it: every subscript against its tensor's box, ranges of all iterators known.
/// \p ranges holds opaque values too.
void check_subscript(DefState& state, const Subscript& subscript, const Environment& ranges);

/// Are \p subscript's guards fulfilled nowhere in \p ranges? True only where that is proved.
bool is_never_read(DefState& state, const Subscript& subscript, const Environment& ranges);

/// Decides \p condition on sizes, for a statement over \p ranges: true (wherever the statement has an instance), false
/// (it can never hold), or not known.
std::optional<bool> decide(DefState& state, const Halide::Expr& condition, const Environment& ranges);

}  // namespace tc::halide_bridge
