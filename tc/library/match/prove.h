#pragma once

#include "tc/library/description/call.h"
#include "tc/library/match/assignment.h"

namespace tc::library {

/// Does \p call, of a routine that computes \p routine, touch what \p problem touches? isl is asked: under the map between
/// iterators that \p assignment is, \p joins counters of \p problem as one, each read and the write reach the same elements for every instance, and each
/// reduction and guard runs over the same instances. Post-ops read their operands where the result is written.
bool prove(const Problem& problem, const std::vector<Join>& joins, const Pairing& pairing, const Computation& routine,
           const Assignment& assignment, const Call& call);

}  // namespace tc::library
