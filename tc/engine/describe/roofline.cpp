#include "tc/engine/describe/roofline.h"

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <vector>

#include "tc/base/str.h"
#include "tc/cpu/thread_pool.h"
#include "tc/engine/describe/predict_time.h"
#include "tc/engine/machine/machine_kind.h"
#include "tc/engine/run/filled_tensors.h"

namespace tc::engine {
namespace {

using Clock = std::chrono::steady_clock;

/// The bytes of tensors in \p traffic, each once.
double bytes_of(const strategy::Traffic& traffic) {
  double result = 0;
  for (const auto& tensor : traffic.tensors) result += std::max(tensor.unique.read, tensor.unique.written);
  return result;
}

/// The nearest cache of \p threads threads of \p target that holds \p bytes; 0 if none does.
int cache_of(double bytes, const Target& target, int threads) {
  const double caches[] = {static_cast<double>(threads) * static_cast<double>(target.l1_bytes),
                           static_cast<double>(threads) * static_cast<double>(target.l2_bytes),
                           static_cast<double>(target.l3_bytes)};
  const auto* found = std::find_if(std::begin(caches), std::end(caches), [&](double size) { return bytes <= size; });
  return found == std::end(caches) ? 0 : static_cast<int>(found - caches) + 1;
}

std::string size_text(double bytes) {
  return bytes < 1 << 20 ? str(static_cast<std::int64_t>(bytes / 1024 + 1), " KB")
                         : str(static_cast<std::int64_t>(bytes / (1 << 20) + 1), " MB");
}

std::string percent(double share) { return str(static_cast<int>(share * 100 + 0.5), " %"); }

}  // namespace

std::string Roofline::bound() const {
  if (limits.flops <= 0 || limits.bandwidth <= 0) return "unknown";
  if (std::max(share_of_peak(), share_of_bandwidth()) < 0.5) return "neither";
  return share_of_peak() >= share_of_bandwidth() ? "arithmetic" : "memory";
}

Roofline roofline(const WorkReport& report, const Target& target, double seconds) {
  Roofline result;
  result.seconds = seconds;
  result.threads = report.parallel ? cpu::num_threads() : 1;
  result.predicted = predict_seconds(report, target, result.threads);
  result.flops = static_cast<double>(report.work.flops()) / seconds / 1e9;
  if (report.traffic) {
    result.bandwidth = report.traffic->total(3).total() / seconds / 1e9;
    result.bytes = bytes_of(*report.traffic);
    result.cache = cache_of(result.bytes, target, result.threads);
  }
  result.limits = machine_kind_of(target).limits(target, result.threads, report.type);
  return result;
}

double measure_seconds(const Executable& executable) {
  if (executable.image().is_for_gpu())
    throw OptionsError(
        "only what runs on a CPU is measured without tensors: give tensors of the GPU to be measured with");
  FilledTensors tensors(executable.image().arguments);
  executable.run_unchecked(tensors.pointers());
  std::vector<double> times;
  auto end = Clock::now() + std::chrono::milliseconds(100);
  do {
    auto begin = Clock::now();
    executable.run_unchecked(tensors.pointers());
    times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  } while (times.size() < 3 || (Clock::now() < end && times.size() < 1000));
  std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

std::string to_string(const Roofline& roofline) {
  TextStream out;
  bool short_run = roofline.seconds < 1e-3;
  auto scale = short_run ? 1e6 : 1e3;
  out << "measured: " << std::setprecision(4) << roofline.seconds * scale << (short_run ? " us in " : " ms in ")
      << roofline.threads << (roofline.threads == 1 ? " thread" : " threads") << std::setprecision(3);
  if (roofline.predicted > 0) out << ", " << roofline.predicted * scale << (short_run ? " us" : " ms") << " predicted";
  out << "\n";
  out << "arithmetic: " << roofline.flops << " GFLOP/s";
  if (roofline.limits.flops > 0)
    out << ", " << percent(roofline.share_of_peak()) << " of the peak of " << roofline.limits.flops;
  out << "\nmemory: ";
  if (roofline.cache > 0)
    out << "no limit, because all data (" << size_text(roofline.bytes) << ") stay in the L" << roofline.cache
        << " cache from run to run";
  else if (roofline.bandwidth > 0)
    out << roofline.bandwidth << " GB/s, as predicted";
  else
    out << "not predicted";
  if (roofline.cache == 0 && roofline.bandwidth > 0 && roofline.limits.bandwidth > 0)
    out << ", " << percent(roofline.share_of_bandwidth()) << " of the bandwidth of " << roofline.limits.bandwidth;
  out << "\nbound by: " << roofline.bound() << "\n";
  return out.str();
}

}  // namespace tc::engine
