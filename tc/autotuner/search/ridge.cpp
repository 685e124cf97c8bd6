#include "tc/autotuner/search/ridge.h"

#include <cmath>
#include <numeric>

namespace tc::autotuner {
namespace {

/// How strongly weights are drawn to 0: a sample's worth of doubt.
constexpr double doubt = 1;

using Vector = std::vector<double>;
using Triangle = std::vector<Vector>;

/// The lower triangle L with L L^T = \p matrix, which is positive definite.
Triangle cholesky(Triangle matrix) {
  for (std::size_t i = 0; i < matrix.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = matrix[i][j];
      for (std::size_t k = 0; k < j; ++k) rest -= matrix[i][k] * matrix[j][k];
      matrix[i][j] = i == j ? std::sqrt(rest) : rest / matrix[j][j];
    }
  return matrix;
}

/// x with \p lower \p lower^T x = \p right.
Vector solved(const Triangle& lower, Vector right) {
  const auto count = right.size();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < i; ++k) right[i] -= lower[i][k] * right[k];
    right[i] /= lower[i][i];
  }
  for (std::size_t i = count; i-- > 0;) {
    for (std::size_t k = i + 1; k < count; ++k) right[i] -= lower[k][i] * right[k];
    right[i] /= lower[i][i];
  }
  return right;
}

}  // namespace

Ridge::Ridge(std::size_t features) : targets_(features, 0), weights_(features, 0) {
  for (std::size_t i = 0; i < features; ++i) {
    products_.emplace_back(i + 1, 0);
    products_[i][i] = doubt;
  }
}

void Ridge::learn(const Vector& features, double value) {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) products_[i][j] += features[i] * features[j];
    targets_[i] += features[i] * value;
  }
  stale_ = true;
}

double Ridge::value(const Vector& features) const {
  if (stale_) weights_ = solved(cholesky(products_), targets_);
  stale_ = false;
  return std::inner_product(features.begin(), features.end(), weights_.begin(), 0.0);
}

}  // namespace tc::autotuner
