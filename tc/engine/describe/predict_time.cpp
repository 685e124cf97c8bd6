#include "tc/engine/describe/predict_time.h"

namespace tc::engine {

double predict_seconds(const WorkReport& report, const Target& target, int threads) {
  double result = 0;
  for (const auto& price : report.prices) result += price.on(threads, strategy::rates_of(target)).seconds;
  for (const auto& price : report.grid_prices) result += price.seconds;
  return result;
}

}  // namespace tc::engine
