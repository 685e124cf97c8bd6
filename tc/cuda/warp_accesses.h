#pragma once

#include <Halide.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tc::cuda {

/// Bytes that a thread moves at once, at most.
inline constexpr int widest_access = 16;

/// Are the lanes of an access to memory one piece that begins at a multiple of its size, so that a thread moves it at
/// once?
bool moves_at_once(const Halide::Expr& index, const Halide::Expr& predicate, const Halide::Type& element);

/// What the threads of a warp access with one instruction.
struct WarpAccess {
  std::string buffer;
  bool write = false;
  int element_bytes = 4;
  int elements = 1;                  ///< of each thread, consecutive
  std::int64_t times = 1;            ///< executions that it stands for
  std::vector<std::int64_t> places;  ///< the first element of each thread that takes part, in their order

  /// Bytes that one thread moves.
  int bytes() const { return elements * element_bytes; }
};

/// The shape of a block, and which of its warps.
struct WarpPlace {
  std::array<std::int64_t, 3> block = {1, 1, 1};
  std::int64_t first_thread = 0;  ///< of the warp, counted with x fastest
  int threads = 32;               ///< of a warp
};

/// The accesses of one warp of block (0, 0, 0) of the kernel \p body: those of the first few iterations of each loop,
/// which stand for the others; what iterations of an unrolled loop read or write side by side is one piece, as
/// compilers make it one. Computes subscripts and conditions, not values; what depends on values is left out, a
/// condition that does is taken to hold.
///
///   before  s[thread_x*33 + i] = A[...]      after  write of s, 4 bytes, places 0, 33, 66, ...
std::vector<WarpAccess> warp_accesses(const Halide::Internal::Stmt& body, const WarpPlace& warp);

/// Rounds in which the \p banks of shared memory, 4 bytes wide each, serve \p access: what a bank has to give of
/// different words to the threads that are served together, at most. `fewest_rounds` where no two words are in one
/// bank.
std::int64_t rounds(const WarpAccess& access, std::int64_t banks);
std::int64_t fewest_rounds(const WarpAccess& access, std::int64_t banks);

}  // namespace tc::cuda
