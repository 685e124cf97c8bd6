#pragma once

#include <optional>

#include "tc/library/description/library.h"
#include "tc/library/match/computation.h"

namespace tc::library {

/// \p given as a call of \p routine of \p library: its expression has the form of the routine's, with post-ops behind it
/// where the routine takes them; what the routine makes of infinite values and NaN is what \p given says, or these are
/// taken not to be (Computation::finite); types are among those of the routine; sizes, attributes and strides are read off the
/// access relations; the routine accepts them; and isl agrees that both touch the same (prove()). Names play no part.
/// Nothing where it is none.
std::optional<Call> match(const Computation& given, const Library& library, const Routine& routine);

}  // namespace tc::library
