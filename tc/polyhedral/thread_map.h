#pragma once

#include <array>
#include <string>
#include <vector>

#include "tc/polyhedral/cluster_view.h"

/// Where the instances of a kernel run: parameters of its schedule name the coordinates of blocks and threads.
namespace tc::polyhedral {

/// "block_x", "block_y", "block_z" and "thread_x", "thread_y", "thread_z".
std::string block_name(int dimension);
std::string thread_name(int dimension);

/// The instances for which \p value is the parameter \p name.
isl::union_set equal_to(const isl::union_pw_aff& value, const std::string& name);

/// { instance -> [block_x, block_y, block_z, thread_x, thread_y, thread_z] } from the filters of \p schedule; a coordinate
/// that no filter speaks of is 0.
isl::union_map coordinates(const isl::schedule& schedule);
isl::union_map blocks_of(const isl::union_map& coordinates);
isl::union_map threads_of(const isl::union_map& coordinates);

/// What threads share: tensors all of the grid; those of a block its shared buffers too.
enum class Sharing { Grid, Block };

/// The pairs of instances { a -> b } of \p scop that touch one element of memory that threads share, at least one of them
/// writing. Both orders; instances of one statement too, but none with itself.
isl::union_map conflicts(const Scop& scop, Sharing sharing);

/// The pairs that run in different threads of one block.
isl::union_map across_threads(const isl::union_map& pairs, const isl::union_map& coordinates);
/// The pairs that run in different blocks.
isl::union_map across_blocks(const isl::union_map& pairs, const isl::union_map& coordinates);

}  // namespace tc::polyhedral
