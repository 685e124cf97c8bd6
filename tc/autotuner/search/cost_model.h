#pragma once

#include <vector>

#include "tc/autotuner/search/ridge.h"
#include "tc/autotuner/search/search_space.h"

namespace tc::autotuner {

/// Estimates times of candidates, so that the promising ones are compiled and measured first.
///
///   log time(c) = log analytic(c) + offset + w . features(c)
///
/// `analytic` is what the strategy's model of operations and traffic predicts (engine::predict_seconds). The offset is
/// that of the first candidate learnt; w is learnt from the times of this tuning by ridge regression, and is 0 at
/// first: the analytic model alone ranks then, and alone decides about what nothing like it has been measured. Features
/// are the analytic time itself, for each gene that holds numbers whether it is given, its logarithm and that squared,
/// and one for each value of the other genes.
class CostModel {
 public:
  explicit CostModel(const SearchSpace& space);

  /// \p analytic is 0 where there is none; \p seconds is positive.
  void learn(const options::MappingOptions& options, double analytic, double seconds);
  /// Seconds; without anything learnt and \p analytic 0 the same for all options.
  double estimate(const options::MappingOptions& options, double analytic) const;

 private:
  std::vector<double> features(const options::MappingOptions& options, double analytic) const;

  const SearchSpace& space_;
  Ridge correction_;  ///< w
  bool learnt_ = false;
  double offset_ = 0,
         origin_ = 0;  ///< of log time over analytic, and of log analytic: those of the first that was learnt
};

/// Which \p count of the candidates with these \p costs to try, in order: the cheapest, but a quarter of them the first
/// of the others, so that a model that is wrong about a kind of candidates learns it. The first \p kept are among them
/// in any case.
std::vector<std::size_t> promising(const std::vector<double>& costs, std::size_t count, std::size_t kept);

}  // namespace tc::autotuner
