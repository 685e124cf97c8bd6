#pragma once

#include "tc/lang/check/scope.h"

namespace tc::lang {

/// Warns of what \p assignment, checked, is unlikely to mean: a quotient of numbers and sizes that is rounded down before it
/// becomes a float (TC131), a sum whose narrow type nobody has declared (TC132), a read of the target that looks like a
/// recurrence (TC133).
void warn_of_surprises(const Assignment& assignment, Scope& scope);

}  // namespace tc::lang
