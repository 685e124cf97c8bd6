#include "tc/autotuner/search/cost_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tc::autotuner {
namespace {

constexpr double explored = 0.25;

/// The logarithm of a size, of the order of 1 for usual ones and 0 in their middle.
double scaled_log(double number) { return (std::log2(number + 1) - 4) / 2; }

double analytic_log(double analytic) { return analytic > 0 ? std::log(analytic) : 0; }

bool holds_numbers(const Gene& gene) {
  return gene.values.size() > 2 && std::all_of(gene.values.begin() + 1, gene.values.end(),
                                               [](const auto& value) { return number_of(value) >= 0; });
}

}  // namespace

CostModel::CostModel(const SearchSpace& space)
    : space_(space), correction_(features(options::MappingOptions(), 0).size()) {}

std::vector<double> CostModel::features(const options::MappingOptions& options, double analytic) const {
  auto choice = space_.choice(options);
  std::vector<double> result{1, analytic > 0 ? analytic_log(analytic) - origin_ : 0};
  for (std::size_t i = 0; i < choice.size(); ++i) {
    const auto& gene = space_.genes()[i];
    if (!holds_numbers(gene)) {
      for (int value = 1; value < static_cast<int>(gene.values.size()); ++value) result.push_back(choice[i] == value);
      continue;
    }
    bool given = choice[i] > 0;
    double size = given ? scaled_log(static_cast<double>(number_of(gene.values[choice[i]]))) : 0;
    result.insert(result.end(), {static_cast<double>(given), size, size * size});
  }
  return result;
}

void CostModel::learn(const options::MappingOptions& options, double analytic, double seconds) {
  double y = std::log(seconds) - analytic_log(analytic);
  if (!learnt_) {
    offset_ = y;
    origin_ = analytic_log(analytic);
    learnt_ = true;
  }
  correction_.learn(features(options, analytic), y - offset_);
}

double CostModel::estimate(const options::MappingOptions& options, double analytic) const {
  return std::exp(analytic_log(analytic) + offset_ + correction_.value(features(options, analytic)));
}

std::vector<std::size_t> promising(const std::vector<double>& costs, std::size_t count, std::size_t kept) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  kept = std::min(kept, costs.size());
  count = std::clamp(count, kept, costs.size());
  std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                   [&](auto a, auto b) { return costs[a] < costs[b]; });
  auto cheapest = kept + static_cast<std::size_t>(std::lround((1 - explored) * static_cast<double>(count - kept)));
  std::sort(order.begin() + static_cast<std::ptrdiff_t>(cheapest), order.end());
  order.resize(count);
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace tc::autotuner
