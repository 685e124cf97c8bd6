#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/subtree.h"

namespace tc::polyhedral {

/// How many elements along each dimension of \p tensor a buffer needs that stores x at x mod slots, of the \p extent that one execution
/// of \p subtree touches: elements that are needed at one time, from the first access to the last, then never have one place. A
/// dimension that would save less than half keeps its extent, as do all outside of ordered loops.
///
///   band [t] { S: h[t, n] = ... h[t - 1, n] }      an instance reads before it writes: 1 slot along t, used in place
///   band [t] { S: h[t, n] = ... h[t - 1, m] }      h[t, n] is needed in iterations t and t + 1: 2 slots
///
/// Only sequences and ordered loops count as time, because later passes reorder and vectorise other loops.
///
/// Source: Lefebvre and Feautrier, Automatic storage management for parallel programs (1998), successive modulo.
std::vector<std::int64_t> buffer_slots(const Scop& scop, const Subtree& subtree, const std::string& tensor,
                                       const std::vector<std::int64_t>& extent);

}  // namespace tc::polyhedral
