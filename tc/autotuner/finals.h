#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tc/autotuner/worker/results.h"
#include "tc/autotuner/worker/worker_process.h"

namespace tc::autotuner {

/// The share of a budget that finals get at most.
inline constexpr double most_reserved = 0.25;

struct FinalSettings {
  int finalists = 3;   ///< besides the default options
  double seconds = 3;  ///< for measuring
  double time = 3;     ///< for all; a finalist whose runs do not fit, and is not the fastest, is left out
  std::optional<options::MappingOptions> incumbent;  ///< what calls take; none: the default options
  /// The machine code of a candidate, "" where it has to be compiled again.
  std::function<std::string(const Candidate&)> image = [](const Candidate&) { return std::string(); };
  int compilers = 1;
  int device = no_gpu;  ///< that all are measured on
  Limits compile, limits;
  Workers::Stop stop = [] { return false; };  ///< gives up what is under way
};

/// Measures the fastest of \p candidates, the first of which is that of the default options, in turns with these and
/// with the incumbent, in one process; as many as there is time for. The one that seems fastest is the winner if rematches
/// with the incumbent, in processes of their own, confirm it (find_winner() in contest.h). First comes the winner, then
/// the incumbent, then the others by time. Times are told in terms of the incumbent's, by the ratio of both: the
/// winner's by that of the rematches. Candidates that fail now are left out, and where the incumbent does, the default
/// options take its place; where nothing can be measured, there are the default options alone, with their first time
/// and runs 0. Nothing where settings.stop() ended them before the rematches; there is no winner where it ended these.
std::optional<std::vector<Finalist>> play_finals(Workers& workers, const std::vector<Candidate>& candidates,
                                                 const FinalSettings& settings);

/// The finalists of a tuning without time for finals: the fastest of \p candidates, the incumbent and the default
/// options, with the times of the search, and runs 0. The fastest, whose results were right, is before the incumbent if
/// it was faster by more than the distance of the quartiles of both, and by 1 %; else after it.
std::vector<Finalist> unplayed_finals(const std::vector<Candidate>& candidates,
                                      const std::optional<options::MappingOptions>& incumbent = {});

}  // namespace tc::autotuner
