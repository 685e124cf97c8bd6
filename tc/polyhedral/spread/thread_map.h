#pragma once

#include <array>
#include <string>

#include "tc/polyhedral/core/scop.h"

/// Where the instances of a kernel run: parameters of its schedule name the coordinates of blocks and threads.
namespace tc::polyhedral {

/// "block_x", "block_y", "block_z" and "thread_x", "thread_y", "thread_z".
std::string block_name(int dimension);
std::string thread_name(int dimension);

/// The instances for which \p value is the parameter \p name.
isl::union_set equal_to(const isl::union_pw_aff& value, const std::string& name);

/// Where each instance runs: its block and its thread of it, three coordinates each. Functions, as it takes long to
/// find them in the filters of a schedule.
struct Coordinates {
  isl::multi_union_pw_aff blocks, threads;

  /// Coordinate number \p dimension of the threads of the instances of \p statement.
  isl::pw_aff thread(const Statement& statement, int dimension) const;
};

/// { instance -> [first, second, third] }
isl::multi_union_pw_aff three_coordinates(const std::array<isl::union_pw_aff, 3>& functions);

/// What threads share: tensors all of the grid; those of a block its shared buffers too.
enum class Sharing { Grid, Block };

/// The memory that \p access of \p statement touches and all of the grid may too.
isl::union_map memory_of_grid(const Scop& scop, const Statement& statement, const Access& access);

/// The pairs of instances { a -> b } of \p scop that touch one element of memory that threads share, at least one of
/// them writing. Both orders; instances of one statement too, but none with itself.
isl::union_map conflicts(const Scop& scop, Sharing sharing);

/// The pairs that run in one block.
isl::union_map within_blocks(const isl::union_map& pairs, const Coordinates& coordinates);
/// The pairs that run in different threads of one block.
isl::union_map across_threads(const isl::union_map& pairs, const Coordinates& coordinates);
/// The pairs that run in different blocks.
isl::union_map across_blocks(const isl::union_map& pairs, const Coordinates& coordinates);
/// { instance -> [x, y, z] }: the threads of Coordinates::threads as a relation, which takes isl a while to make.
isl::union_map threads_of_instances(const Coordinates& coordinates);
/// The threads that \p pairs relate, of instances in \p threads (threads_of_instances): { [x, y, z] -> [x', y', z'] }.
isl::union_map related_threads(const isl::union_map& pairs, const isl::union_map& threads);
/// The same form: all threads of the \p block and those of other warps, \p warp consecutive threads each.
isl::map threads_of_other_warps(isl::ctx ctx, const std::array<std::int64_t, 3>& block, std::int64_t warp);
/// The pairs whose threads are of different warps: \p warp consecutive threads of the \p block.
isl::union_map across_warps(const isl::union_map& pairs, const Coordinates& coordinates,
                            const std::array<std::int64_t, 3>& block, std::int64_t warp);

}  // namespace tc::polyhedral
