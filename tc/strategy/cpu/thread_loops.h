#pragma once

#include <cstdint>
#include <vector>

#include "tc/polyhedral/map/mapping.h"
#include "tc/strategy/cpu/tiled_reduction.h"

namespace tc::strategy {

/// The loop of a tiled reduction that runs on threads.
struct ThreadedLoop {
  int member = -1;         ///< -1: none
  std::int64_t block = 0;  ///< iterations that a thread takes at once; 0: one
};

/// The loops that threads may share, from 65536 instances on: that of the member that the user named in parallel_along, if it can be
/// cut for more than one core, else each of the outer members, those first that repeat fewer copies. In one, two or four tasks a
/// core; of rows and columns, tasks are whole tiles, and no more than the blocks that these have already. Else one loop that is none.
std::vector<ThreadedLoop> thread_loops(const ReductionView& view);

/// Can threads make the copy \p pack once for all, of all rows or all columns, as each would copy the whole of it? Where the last
/// cache has room for it.
bool can_be_copied_once(const ReductionView& view, const polyhedral::PackMapping& pack);

}  // namespace tc::strategy
