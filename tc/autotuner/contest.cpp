#include "tc/autotuner/contest.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tc::autotuner {
namespace {

/// The logarithms of \p ratios: their mean, and its standard error.
struct Mean {
  double value = 0, error = 0;
};
Mean mean_logarithm(const std::vector<double>& ratios) {
  const auto count = static_cast<double>(ratios.size());
  Mean result;
  for (const double ratio : ratios) result.value += std::log(ratio) / count;
  double square = 0;
  for (const double ratio : ratios) square += std::pow(std::log(ratio) - result.value, 2);
  result.error = std::sqrt(square / (count - 1) / count);
  return result;
}

/// Student's t for 1 %, one-sided, by degrees of freedom from 1 on.
double student(std::size_t degrees) {
  constexpr std::array<double, 9> table = {31.821, 6.965, 4.541, 3.747, 3.365, 3.143, 2.998, 2.896, 2.821};
  return table[std::min(degrees, table.size()) - 1];
}

/// The ratios that \p count rematches of \p entrant give; nothing where one fails.
std::optional<std::vector<double>> ratios_of(std::size_t entrant, int count, const Rematch& rematch) {
  std::vector<double> ratios;
  for (int i = 0; i < count; ++i) {
    const auto timings = rematch(entrant);
    if (!timings || timings->first.empty() || timings->second.empty()) return std::nullopt;
    ratios.push_back(ratio_of(timings->first, timings->second));
  }
  return ratios;
}

}  // namespace

double greatest_mean(const std::vector<double>& ratios) {
  const auto mean = mean_logarithm(ratios);
  return std::exp(mean.value + student(ratios.size() - 1) * mean.error);
}

std::optional<Winner> find_winner(const std::vector<Timings>& first, std::size_t reference, int rematches,
                                  const Rematch& rematch) {
  Winner best;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (i == reference || first[i].empty() || first[reference].empty()) continue;
    if (const double ratio = ratio_of(first[i], first[reference]); ratio < best.ratio) best = {i, ratio};
  }
  if (best.ratio > 1 - least_gain) return std::nullopt;
  const auto deciding = ratios_of(best.entrant, rematches, rematch);
  if (!deciding || greatest_mean(*deciding) > 1 - least_gain) return std::nullopt;
  const auto telling = ratios_of(best.entrant, telling_rematches, rematch);
  if (!telling) return std::nullopt;
  best.ratio = std::exp(mean_logarithm(*telling).value);
  return best.ratio < 1 ? std::optional(best) : std::nullopt;
}

}  // namespace tc::autotuner
