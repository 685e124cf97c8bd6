#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace tc::autotuner {

/// The time of a call, the mean of the calls of a sample.
struct Timing {
  double wall = 0;     ///< wall time in seconds
  double cpu = 0;      ///< CPU time of all threads together
  double longest = 0;  ///< CPU time of the busiest thread
  double own = 0;      ///< CPU time of the calling thread, which never sleeps in a call

  /// Did the calling thread wait for a core, so that `wall` includes time of other programs?
  bool disturbed() const;
};

/// The times of an executable, one for each round.
using Timings = std::vector<Timing>;

/// Times \p run, \p calls calls, by the clocks of this process and its threads.
Timing time_calls(const std::function<void()>& run, int calls);

/// Seconds of a call for each round: wall time or, if the call was disturbed, CPU time divided by the number of
/// concurrent threads.
std::vector<double> seconds_of(const Timings& timings);

/// The ratio of the times of \p of to \p than: the median of the rounds. Rounds in which either was disturbed compare
/// CPU times, with equal numbers of concurrent threads unless these numbers differ clearly. Both have the same number
/// of rounds, at least one.
double ratio_of(const Timings& of, const Timings& than);

/// Measures \p count things in rounds until \p ended, called with the number of rounds, returns true. Each is
/// measured once in a round, in a random order from \p seed.
std::vector<Timings> measure_in_rounds(std::size_t count, const std::function<Timing(std::size_t)>& measure,
                                       const std::function<bool(int rounds)>& ended, std::uint64_t seed);

}  // namespace tc::autotuner
