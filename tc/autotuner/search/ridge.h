#pragma once

#include <cstddef>
#include <vector>

namespace tc::autotuner {

/// A linear function of features, learnt from samples one by one by ridge regression: weights are drawn to 0 as if by one
/// sample, so that it is 0 at first.
class Ridge {
 public:
  explicit Ridge(std::size_t features);

  /// Both have as many features as the constructor was told.
  void learn(const std::vector<double>& features, double value);
  double value(const std::vector<double>& features) const;

 private:
  std::vector<std::vector<double>> products_;  ///< sum of x x^T, the lower triangle
  std::vector<double> targets_;                ///< sum of x y
  mutable std::vector<double> weights_;
  mutable bool stale_ = false;  ///< weights_ do not know all that was learnt
};

}  // namespace tc::autotuner
