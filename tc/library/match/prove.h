#pragma once

#include "tc/library/description/call.h"
#include "tc/library/match/assignment.h"

namespace tc::library {

/// Does \p call, of a routine that computes \p routine, touch the elements that \p problem touches? \p assignment maps its iterators,
/// after \p joins of counters of \p problem. Under this map each read and the write reach the same elements for every instance, and
/// each reduction and guard runs over the same instances: by equal linear forms, or isl is asked. Post-ops read their operands
/// where the result is written.
bool prove(const Problem& problem, const std::vector<Join>& joins, const Pairing& pairing, const Computation& routine,
           const Assignment& assignment, const Call& call);

}  // namespace tc::library
