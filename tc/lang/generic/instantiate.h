#pragma once

#include "tc/lang/generic/instance.h"
#include "tc/lang/syntax/diagnostics.h"

namespace tc::lang {

/// \p def, a generic one as parsed, with the types of \p instance for its type names and with names for its leading
/// dimensions: L0, L1, ... for sizes and l0, l1, ... for indices, or longer names where the def uses these.
///
///   T(...,C) X            float32(L0, L1, C) X
///   Y(...,c) = T(1)       Y(l0, l1, c) = float32(1)           for T = float32, 2 leading dimensions
///
/// Places in the text stay.
Def instantiate(const Def& def, const Instance& instance);

/// Adds errors to \p diagnostics for type names and leading dimensions that no instance of \p def, as parsed, gives a meaning:
/// a type name that no parameter has or that another thing is called too, and `...` where no parameter declares it.
void check_generic(const Def& def, Diagnostics& diagnostics);

}  // namespace tc::lang
