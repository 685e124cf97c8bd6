#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace tc::emulator {

/// A place in the life of one thread: of which block, after how many of the block's barriers, after how many of the
/// thread's own synchronisations since.
struct Stamp {
  static constexpr std::uint32_t in_flight = (1u << 21) - 1;

  std::uint32_t block = 0;  ///< serial number, from 1 over all launches; 0: never
  std::uint32_t epoch = 0;
  std::uint32_t local : 21 = 0;  ///< in_flight: a copy that has not landed, ordered before nothing
  std::uint32_t thread : 10 = 0;
  std::uint32_t atomic : 1 = 0;

  bool operator==(const Stamp&) const = default;
};

/// What is ordered before what, by the memory model of CUDA: threads of a block by its barriers, lanes of a warp by
/// warp barriers, any two threads by an atomic access behind a fence that another reads before a fence.
class HappensBefore {
 public:
  static constexpr int warp = 32;

  /// All that ran before is ordered before the launch.
  void begin_launch();
  void begin_block(int threads);
  std::uint32_t block() const { return block_; }
  /// Serial number of the first block of the launch.
  std::uint32_t first_block() const { return first_block_; }

  Stamp now(int thread) const;
  /// Is what happened at \p past ordered before what \p thread does now?
  bool ordered(const Stamp& past, int thread) const {
    if (past.block == block_ && past.local != Stamp::in_flight &&
        (past.epoch < epoch_ || static_cast<int>(past.thread) == thread))
      return true;
    return past.block < first_block_ || ordered_by_warp_or_atomics(past, thread);
  }

  /// Barrier of all threads of the block.
  void barrier();
  /// Barrier of the lanes \p mask of the warp that begins at thread \p first.
  void warp_barrier(int first, std::uint32_t mask);
  /// Of the block or of the device.
  void fence(int thread, bool device);
  /// What \p thread wrote is seen by asynchronous units, behind a barrier those of other threads.
  void proxy_fence(int thread);
  /// Does a unit of \p thread see what the block did at \p past, if that is ordered before?
  bool fenced(const Stamp& past, int thread) const;
  /// \p thread reads and writes atomically at \p address.
  void atomic(int thread, std::uintptr_t address);

 private:
  struct Release;
  using ReleasePtr = std::shared_ptr<const Release>;
  using Row = std::array<std::uint32_t, warp>;

  /// What a thread knows beyond the block's barriers.
  struct Clock {
    std::uint32_t local = 0;
    Row lanes{};                       ///< of its warp: known up to this local time
    std::vector<ReleasePtr> acquired;  ///< since the last barrier
    std::vector<ReleasePtr> observed;  ///< read atomically, not yet behind a fence
    ReleasePtr fenced;                 ///< what its next atomic write publishes
  };

  /// When a thread fenced last, and last before the epoch of that.
  struct ProxyFences {
    std::uint32_t epoch = 0, local = 0, earlier_epoch = 0, earlier_local = 0;
  };

  bool ordered_by_warp_or_atomics(const Stamp& past, int thread) const;
  void advance(Clock& clock);
  bool reached(const std::vector<ReleasePtr>& releases, const Stamp& past) const;

  std::uint32_t block_ = 0, first_block_ = 1, epoch_ = 0;
  std::vector<Clock> clocks_;
  std::vector<ProxyFences> proxy_fences_;
  std::vector<ReleasePtr> block_acquired_;  ///< what all threads have acquired
  std::map<std::uintptr_t, ReleasePtr> published_;
};

inline Stamp HappensBefore::now(int thread) const {
  Stamp stamp;
  stamp.block = block_;
  stamp.epoch = epoch_;
  stamp.local = clocks_[static_cast<std::size_t>(thread)].local;
  stamp.thread = static_cast<std::uint32_t>(thread);
  return stamp;
}

}  // namespace tc::emulator
