#pragma once

#include <Halide.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tc/base/shared_banks.h"

namespace tc::cuda {

/// Bytes that a thread moves at once, at most.
inline constexpr int widest_access = 16;

/// Are the lanes of an access to memory one piece that begins at a multiple of its size, so that a thread moves it at
/// once?
bool moves_at_once(const Halide::Expr& index, const Halide::Expr& predicate, const Halide::Type& element);

/// The shape of a block, and which of its warps.
struct WarpPlace {
  std::array<std::int64_t, 3> block = {1, 1, 1};
  std::int64_t first_thread = 0;                     ///< of the warp, counted with x fastest
  int threads = 32;                                  ///< of a warp
  std::map<std::string, std::int64_t> numbers = {};  ///< further variables, which are the same for all threads
};

/// The accesses of one warp of block (0, 0, 0) of the kernel \p body: those of the first few iterations of each loop,
/// which stand for the others; what iterations of an unrolled loop read or write side by side is one piece, as
/// compilers make it one. Computes subscripts and conditions, not values; what depends on values is left out, a
/// condition that does is taken to hold.
///
///   before  s[thread_x*33 + i] = A[...]      after  write of s, 4 bytes, places 0, 33, 66, ...
std::vector<WarpAccess> warp_accesses(const Halide::Internal::Stmt& body, const WarpPlace& warp);

}  // namespace tc::cuda
