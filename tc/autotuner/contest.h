#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "tc/autotuner/worker/timing.h"

namespace tc::autotuner {

/// A gain below is none.
inline constexpr double least_gain = 0.01;
/// Rematches with a winner that has been found, by which its gain is told.
inline constexpr int telling_rematches = 3;

/// The greatest that the mean of what \p ratios are samples of may be, with a probability of 99 %: by Student's t of
/// their logarithms, each an independent sample. There are at least two.
double greatest_mean(const std::vector<double>& ratios);

/// An entrant that is faster than the reference, and how many times as long its calls take.
struct Winner {
  std::size_t entrant = 0;
  double ratio = 1;
};

/// Measures an entrant and the reference in turns, in a process of their own; nothing where that fails.
using Rematch = std::function<std::optional<std::pair<Timings, Timings>>(std::size_t entrant)>;

/// Which of the entrants, measured in turns with \p reference as \p first says (nothing of those that failed), is faster
/// than it beyond noise. Rounds of one process have much in common: where memory lies, what else ran meanwhile. So they
/// only choose who tries, the one that seems fastest, and each of \p rematches, two at least, is one sample: the greatest that
/// their mean ratio may be is below 1 by 1 %. Those who win are those whom chance favoured too, so the winner's ratio is the
/// mean of telling_rematches others, which decide nothing but that there is a gain. Nothing where none is so fast, or a
/// rematch fails.
std::optional<Winner> find_winner(const std::vector<Timings>& first, std::size_t reference, int rematches,
                                  const Rematch& rematch);

}  // namespace tc::autotuner
