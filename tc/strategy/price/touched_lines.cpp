#include "tc/strategy/price/touched_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace tc::strategy {
namespace {

constexpr double line = Target::cache_line;

struct Step {
  double stride = 0, count = 1;
};

/// Steps of an access that has at most so many iterators that move it.
constexpr std::size_t most_steps = 12;

}  // namespace

double TouchedLines::lines_of_a_set(double period) const {
  if (runs <= 1 || row_step <= 0) return bytes / period;
  auto step = std::gcd(static_cast<std::int64_t>(row_step), static_cast<std::int64_t>(period));
  return std::max(bytes / period, std::ceil(runs / (period / static_cast<double>(step))));
}

TouchedLines touched_lines(const PricedCluster& cluster, const PricedAccess& access, const std::vector<double>& spans) {
  const auto& tensor = cluster.tensors[static_cast<std::size_t>(access.tensor)];
  auto most = std::max(tensor.bytes, line);
  std::array<Step, most_steps> steps;
  std::size_t count = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (!access.used[i] || spans[i] <= 1) continue;
    if (access.strides[i] == polyhedral::unknown_stride || count == most_steps) return {most, 1, 0};
    steps[count++] = {static_cast<double>(std::abs(access.strides[i])) * tensor.element, spans[i]};
  }
  std::sort(steps.begin(), steps.begin() + static_cast<long>(count),
            [](const Step& a, const Step& b) { return a.stride < b.stride; });
  TouchedLines result;
  double run = tensor.element;
  result.runs = 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (steps[i].stride < run + line) {
      run += (steps[i].count - 1) * steps[i].stride;
    } else {
      if (result.row_step == 0) result.row_step = steps[i].stride;
      result.runs *= steps[i].count;
    }
  }
  result.bytes = std::min(result.runs * std::ceil(run / line) * line, most);
  return result;
}

TouchedLines copied_lines(const PricedAccess& access, double element, const std::vector<double>& spans) {
  TouchedLines result{element, 1, 0};
  for (std::size_t i = 0; i < spans.size(); ++i)
    if (access.used[i]) result.bytes *= spans[i];
  return result;
}

}  // namespace tc::strategy
