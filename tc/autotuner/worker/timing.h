#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace tc::autotuner {

/// What a call took, the mean of the calls of a sample.
struct Timing {
  double wall = 0;     ///< seconds that passed
  double cpu = 0;      ///< seconds that all threads ran, together
  double longest = 0;  ///< seconds that the thread ran which ran longest
  double own = 0;      ///< seconds that the calling thread ran, which never sleeps in a call

  /// Did the calling thread wait for a core, so that `wall` tells of other programs too?
  bool disturbed() const;
};

/// What an executable took, a timing a round.
using Timings = std::vector<Timing>;

/// Times \p run, \p calls calls, by the clocks of this process and its threads.
Timing time_calls(const std::function<void()>& run, int calls);

/// Seconds of a call, for each round: those that passed, or, where the call was disturbed, those that its threads ran,
/// divided by how many ran at a time.
std::vector<double> seconds_of(const Timings& timings);

/// How many times as long as \p than the calls of \p of take: the median of the rounds. Rounds in which either was
/// disturbed compare what threads ran, as many of them at a time in the one as in the other unless these numbers differ
/// plainly. Both have as many rounds, at least one.
double ratio_of(const Timings& of, const Timings& than);

/// Measures \p count things in rounds until \p ended, which is told how many rounds there have been, says so: each once
/// a round, in an order drawn anew for each from \p seed.
std::vector<Timings> measure_in_rounds(std::size_t count, const std::function<Timing(std::size_t)>& measure,
                                       const std::function<bool(int rounds)>& ended, std::uint64_t seed);

}  // namespace tc::autotuner
