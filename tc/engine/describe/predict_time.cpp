#include "tc/engine/describe/predict_time.h"

#include <algorithm>

#include "tc/strategy/cost/machine_rates.h"

namespace tc::engine {
namespace {

constexpr double cycles_a_second = 3e9;
constexpr double flops_a_cycle = 4, accesses_a_cycle = 2;  ///< of one lane

}  // namespace

double predict_seconds(const WorkReport& report, const Target& target, int threads) {
  if (!report.traffic) return 0;
  auto bytes = [&](int level) { return report.traffic->total(level).total(); };
  double element = byte_size(report.type);
  double lanes = std::min(report.lanes, target.vector_bytes() / element);
  double arithmetic = static_cast<double>(report.work.flops()) / (flops_a_cycle * lanes);
  double accesses = bytes(0) / (accesses_a_cycle * lanes * element);
  double near =
      std::max(arithmetic, accesses) + bytes(1) / strategy::l2_bytes_a_cycle + bytes(2) / strategy::l3_bytes_a_cycle;
  double far = bytes(3) / strategy::memory_bytes_a_cycle;
  int parallel = report.parallel ? std::max(threads, 1) : 1;
  return (near / parallel + far / std::min(parallel, strategy::cores_that_fill_memory)) / cycles_a_second;
}

}  // namespace tc::engine
