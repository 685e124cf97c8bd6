#pragma once

#include <cstddef>
#include <vector>

#include "tc/autotuner/search/cost_model.h"
#include "tc/autotuner/tuner.h"

namespace tc::autotuner {

/// Which of the candidates that a search asks for are measured, as a cost model predicts their times.
class CandidateRanking {
 public:
  /// \p space and \p starts, what a tuning starts with, live as long.
  CandidateRanking(const SearchSpace& space, Ranking ranking, const std::vector<options::MappingOptions>& starts)
      : ranking_(ranking), starts_(starts), model_(space) {}

  /// The \p count that are measured of \p asked and those passed over before, in order; what a tuning starts with, in
  /// front of \p asked, is among them. The others are passed over, the dearest for good once there are many. Without a
  /// ranking all of \p asked.
  std::vector<Candidate> most_promising(std::vector<Candidate> asked, std::size_t count);
  /// Lets the model learn from \p candidate, which has been measured, where it is one that learns.
  void learn(const Candidate& candidate);
  /// Are there candidates that were asked for, but were not promising yet?
  bool has_passed_over() const { return !passed_over_.empty(); }

 private:
  Ranking ranking_;
  const std::vector<options::MappingOptions>& starts_;
  CostModel model_;
  std::vector<Candidate> passed_over_;
};

}  // namespace tc::autotuner
