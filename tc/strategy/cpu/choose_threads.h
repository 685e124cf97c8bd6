#pragma once

#include <cstdint>

#include "tc/polyhedral/map/mapping.h"
#include "tc/strategy/cpu/tiled_reduction.h"

namespace tc::strategy {

/// The loop of a tiled reduction that runs on threads.
struct ThreadedLoop {
  int member = -1;         ///< -1: none
  std::int64_t block = 0;  ///< iterations that a thread takes at once; 0: one
};

/// The loop that runs on threads, from 65536 instances on. With \p first, rows or columns, what is copied first:
///
///   named         by the user in parallel_along, where it can be cut for more than one core
///   other         beside rows and columns, with four iterations a core or more: one that indexes what is copied first;
///                 one that does not only if nothing is; in groups that pay for a task
///   split         rows or columns, in one block a core or more, or another one that repeats no copy: with which most
///                 cores are busy and each uses what it reads often, \p first if that is close to the best
ThreadedLoop choose_threads(const ReductionView& view, int first);

/// Would threads run along rows or columns, if the user names no loop?
bool threads_split_tile(const ReductionView& view);

/// Has a cache room for one copy of all rows or all columns, \p member, that threads share? The second; or, for columns,
/// of which a block stays there while rows pass, the third, if that saves more than two copies.
bool can_be_copied_once(const ReductionView& view, int member);

/// Is \p pack copied once, by all threads, as each would copy the whole of it?
bool is_copied_once(const ReductionView& view, const polyhedral::PackMapping& pack);

}  // namespace tc::strategy
