#pragma once

#include <optional>

#include "tc/library/description/call.h"
#include "tc/library/match/assignment.h"

namespace tc::library {

/// The sizes, attributes, offsets and strides with which a routine does what \p problem says, under \p assignment: a
/// proposal, for prove(). Nothing where there are none.
///
/// A dimension that several iterators share, S*y + D*r - P, is a window: its stride in memory is that of the tensor, or
/// the largest that S and D leave whole; the conditions on S*y + D*r say where it begins (P) and how long it is.
std::optional<Call> read_off(const Problem& problem, const Pairing& pairing, const Computation& routine,
                             const Assignment& assignment);

}  // namespace tc::library
