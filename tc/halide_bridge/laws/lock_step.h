#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace tc::halide_bridge {

/// The threads that run a statement: one, unless a grid of blocks of them does.
struct ThreadGrid {
  std::array<std::int64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::int64_t warp_size = 1;                     ///< consecutive threads of a block
  std::map<std::string, std::int64_t> told = {};  ///< parameters and variables that are the same for all threads

  std::int64_t blocks() const { return grid[0] * grid[1] * grid[2]; }
  std::int64_t threads() const { return block[0] * block[1] * block[2]; }
  /// block_x ... thread_z of thread number \p thread of block number \p block_number, and `told`.
  std::map<std::string, std::int64_t> coordinates(std::int64_t block_number, std::int64_t thread) const;
};

/// Where a thread waits for others: `members` consecutive threads, the first one's number a multiple of that.
struct Meeting {
  const void* place = nullptr;  ///< which all of them come to
  std::int64_t members = 1;

  bool operator==(const Meeting&) const = default;
};

/// What threads of a block do: \p advance runs a thread until it waits, none at its end; \p meet does what the threads
/// from first to last - 1 do together once all have come.
struct ThreadActions {
  std::function<std::optional<Meeting>(std::int64_t thread)> advance;
  std::function<void(std::int64_t first, std::int64_t last)> meet;
};

/// Runs \p threads threads of a block to their ends, one after the other between meetings. False where some wait for
/// threads that do not come.
///
///   two threads  A barrier B      runs  A of 0, A of 1, the meeting of 0 and 1, B of 0, B of 1
bool run_in_lock_step(std::int64_t threads, const ThreadActions& actions);

}  // namespace tc::halide_bridge
