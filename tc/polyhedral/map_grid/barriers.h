#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/spread/thread_map.h"

/// Barriers are instances that an extension node adds to a schedule; they belong to no statement.
namespace tc::polyhedral {

/// What all threads of a block, or those of a warp, wait at.
inline const std::string block_barrier = "tc_barrier";
inline const std::string warp_barrier = "tc_warp_barrier";

/// Is \p id the name of the instances of a barrier?
bool is_barrier(const std::string& id);

/// What closes a thread's group of asynchronous copies, and what waits until at most so many of its groups are under
/// way: the instances of "tc_copy_wait_2_..." for 2.
inline const std::string copy_commit = "tc_copy_commit";
inline const std::string copy_wait = "tc_copy_wait";
/// The groups that the wait \p id leaves under way; -1 where \p id is no wait.
int groups_left(const std::string& id);

/// What stands around the products of asynchronous units (MatrixUnit::from_shared): before a group of them, behind it, what
/// waits until at most so many groups are under way, and what lets units see what threads wrote to shared memory.
inline const std::string unit_begin = "tc_unit_begin";
inline const std::string unit_commit = "tc_unit_commit";
inline const std::string unit_wait = "tc_unit_wait";
inline const std::string proxy_fence = "tc_proxy_fence";
/// The groups of products that the wait \p id leaves under way; -1 where \p id is no such wait.
int unit_groups_left(const std::string& id);

/// Names of synchronisation in order, by that of a statement: right behind the statement; behind the last child of the sequence
/// that has it alone in a child; and behind the child of the outermost sequence that has it.
struct Synchronisation {
  std::map<std::string, std::vector<std::string>> behind = {}, at_end = {}, behind_all = {};

  bool empty() const { return behind.empty() && at_end.empty() && behind_all.empty(); }
};
/// The function that the instances of synchronisation \p id call, "" where they are none.
std::string function_of_synchronisation(const std::string& id);

/// Is \p id the name of instances that belong to no statement: barriers, commits and waits?
bool is_synchronisation(const std::string& id);

/// \p scop with barriers such that one lies between any two instances of different threads that conflict, as few of
/// them as the sequences of the schedule allow: at each sequence a smallest set of places between children.
///
///   before  band [k] { thread  filter { j = thread_x }: S } { thread  filter { i = thread_x }: T reads what S wrote }
///   after   band [k] { S } { barrier } { T } { barrier }
///
/// \p where says where instances run. Loops above `thread` marks are run by all threads of a block together. Warps are
/// \p warp_size consecutive threads of the \p block; where only threads of one warp conflict, the barrier is the warp's.
/// What \p behind names is added too, in each iteration of the loops around its statement's sequence, before a barrier
/// at this place. Throws InternalError where there is no such sequence.
Scop insert_barriers(const Scop& scop, const Coordinates& where, const std::array<std::int64_t, 3>& block,
                     std::int64_t warp_size, const Synchronisation& behind = {});

}  // namespace tc::polyhedral
