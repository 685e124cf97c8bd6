#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tc {

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

/// Rounds in which the \p banks of shared memory, 4 bytes wide each, serve \p access: what a bank has to give of
/// different words to the threads that are served together, at most. `fewest_rounds` where no two words are in one
/// bank.
std::int64_t rounds(const WarpAccess& access, std::int64_t banks);
std::int64_t fewest_rounds(const WarpAccess& access, std::int64_t banks);

/// Pieces of memory of \p sector bytes that \p access touches; \p base is the address of element 0.
std::int64_t sectors(const WarpAccess& access, std::int64_t sector, std::int64_t base = 0);

}  // namespace tc
