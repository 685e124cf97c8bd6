#include "tc/autotuner/worker/statistics.h"

#include <algorithm>
#include <cmath>

namespace tc::autotuner {

double quantile(std::vector<double> values, double part) {
  auto place = values.begin() + std::lround(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

}  // namespace tc::autotuner
