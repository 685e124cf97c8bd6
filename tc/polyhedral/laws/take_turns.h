#pragma once

#include "tc/polyhedral/core/isl.h"

namespace tc::polyhedral {

/// Do elements that share a place take turns: of each two elements that \p homes, { T[x] -> place }, gives one place, are all accesses of
/// one before all accesses of the other? \p reads and \p writes are { instance -> T[x] }; an instance reads before it writes. Threads of
/// a `parallel` loop and lanes of a `vector` run at once.
bool take_turns(const isl::schedule& schedule, const isl::union_map& reads, const isl::union_map& writes,
                const isl::union_map& homes);

}  // namespace tc::polyhedral
