#pragma once

#include <optional>
#include <vector>

#include "tc/autotuner/results.h"
#include "tc/autotuner/worker_process.h"

namespace tc::autotuner {

struct FinalSettings {
  int finalists = 3;   ///< besides the default options
  double seconds = 3;  ///< for measuring
  int compilers = 1;
  int device = no_gpu;  ///< that all are measured on
  Limits compile, limits;
  Workers::Stop stop = [] { return false; };  ///< gives up what is under way
};

/// The times of \p of and of \p than in the same rounds: is the first faster beyond noise? The median of the ratios has
/// to be below 1 by 1 %, and by three of its standard errors, since several finalists try (1.253 s / sqrt(n), with s
/// the distance of the quartiles over 1.349); and its least time has to be lower, which other programs on the machine
/// change least.
bool faster(const std::vector<double>& of, const std::vector<double>& than);

/// Compiles the fastest of \p candidates, the first of which is that of the default options, again, and measures them
/// in turns in one process: all by time, but those not faster than the default options after these. Candidates that
/// fail now are left out; where nothing can be measured, the default options alone, with their first time and runs 0.
/// Nothing where settings.stop() ended them.
std::optional<std::vector<Finalist>> play_finals(Workers& workers, const std::vector<Candidate>& candidates,
                                                 const FinalSettings& settings);

/// The finalists of a tuning without time for finals: the fastest of \p candidates and the default options, with the
/// times of the search, and runs 0. The fastest, whose results were right, is before the default options if it was
/// faster by more than the distance of the quartiles of both, and by 1 %; else after them.
std::vector<Finalist> unplayed_finals(const std::vector<Candidate>& candidates);

}  // namespace tc::autotuner
