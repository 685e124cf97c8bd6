#include "tc/strategy/construct/printed_formulas.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "tc/base/ceil_div.h"

namespace tc::strategy::printed {
namespace {

/// Elements of the box that \p access touches where each iterator takes as many values as \p sizes says: iterators with
/// the same stride slide along one dimension.
double elements(const PricedAccess& access, const std::vector<double>& sizes) {
  std::map<std::int64_t, double> along;
  double result = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (!access.used[i]) continue;
    if (access.strides[i] == polyhedral::unknown_stride)
      result *= sizes[i];
    else
      along.try_emplace(std::abs(access.strides[i]), 1).first->second += sizes[i] - 1;
  }
  for (const auto& [stride, count] : along) result *= count;
  return result;
}

}  // namespace

TileTraffic tile_traffic(const PricedStatement& statement, const std::vector<std::int64_t>& sizes) {
  double tiles = 1;
  std::vector<double> step(sizes.begin(), sizes.end()), whole = step;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (statement.write.used[i])
      tiles *= std::ceil(statement.extent[i] / static_cast<double>(sizes[i]));
    else
      whole[i] = statement.extent[i];
  }
  TileTraffic result{elements(statement.write, whole), 0};
  for (const auto& read : statement.reads) {
    result.moved += elements(read, whole);
    result.kept += elements(read, step);
  }
  result.moved *= tiles;
  return result;
}

double tiling_benefit(const TileTraffic& before, const TileTraffic& after) {
  return before.moved / after.moved / (before.kept / after.kept);
}

double caching_benefit(const Level& slow, const Level& fast, double bytes) {
  return (slow.latency + bytes / slow.bandwidth) / (fast.latency + bytes / fast.bandwidth);
}

double virtual_thread_benefit(std::int64_t width, std::int64_t bank, std::int64_t threads) {
  return static_cast<double>(ceil_div(width, bank)) / static_cast<double>(ceil_div(width, threads * bank));
}

double caching_multiplier(double step) { return 3 / (1 + std::exp(-std::log(5.0) / 10 * (step - 10))); }

double recording_probability(double temperature) {
  return 1 - 1 / (1 + std::exp(-0.5 * (-std::log(temperature) - 10)));
}

}  // namespace tc::strategy::printed
