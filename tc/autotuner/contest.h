#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "tc/autotuner/worker/timing.h"

namespace tc::autotuner {

/// Smaller gains do not count.
inline constexpr double least_gain = 0.01;
/// Rematches with the winner that determine its reported gain.
inline constexpr int telling_rematches = 3;

/// The upper bound of the mean of the distribution of \p ratios, with a probability of 99 %, by Student's t of their
/// logarithms. The ratios are independent samples, at least two.
double greatest_mean(const std::vector<double>& ratios);

/// An entrant that is faster than the reference, and the ratio of its time to the reference's.
struct Winner {
  std::size_t entrant = 0;
  double ratio = 1;
};

/// Measures an entrant and the reference in turns, in a separate process; nothing if that fails.
using Rematch = std::function<std::optional<std::pair<Timings, Timings>>(std::size_t entrant)>;

/// The entrant that is faster than \p reference beyond noise. \p first holds the timings in turns, empty for failed
/// entrants. Because the rounds of one process share conditions such as memory placement and other load, they only
/// select the apparently fastest entrant. Each of \p rematches, at least two, is one sample; the upper bound of their
/// mean ratio must be below 1 by 1 %. A winner is partly selected by chance, so its ratio is the mean of
/// telling_rematches further rematches, which must only confirm that there is a gain. Nothing if no entrant is fast
/// enough, or a rematch fails.
std::optional<Winner> find_winner(const std::vector<Timings>& first, std::size_t reference, int rematches,
                                  const Rematch& rematch);

}  // namespace tc::autotuner
