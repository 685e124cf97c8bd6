#pragma once

#include <string>

#include "tc/cpu/machine_limits.h"
#include "tc/engine/describe/describe_work.h"

namespace tc::engine {

/// Where a measured run stands under the two limits of its machine. Rates are in 10^9 a second. Measured runs are repeated, so that data
/// which fit in a cache are read from there, and the bandwidth of memory is no limit.
struct Roofline {
  double seconds = 0;
  double predicted = 0;  ///< seconds, by predict_seconds(); 0 where nothing is predicted
  int threads = 1;
  double flops = 0;      ///< rate of the run
  double bandwidth = 0;  ///< predicted bytes between the third cache and memory / seconds; 0 where not predicted
  double bytes = 0;      ///< of all tensors that are not kept in registers; 0 where not predicted
  int cache = 0;         ///< the nearest cache that holds them from run to run, 1 to 3; 0: none
  cpu::MachineLimits limits;

  double share_of_peak() const { return limits.flops > 0 ? flops / limits.flops : 0; }
  /// 0 for data that stay in a cache.
  double share_of_bandwidth() const { return limits.bandwidth > 0 && cache == 0 ? bandwidth / limits.bandwidth : 0; }
  /// "arithmetic" or "memory", whichever has the greater share where that is half or more; "neither" below, where
  /// latencies, nearer caches, functions or the start of a run decide; "unknown" where a limit was not measured.
  std::string bound() const;
};

/// The position of a run of \p seconds of what \p report describes, compiled for \p target, in as many threads as
/// kernels have. Measures the machine on the first call.
Roofline roofline(const WorkReport& report, const Target& target, double seconds);

/// The median time of runs of \p executable on tensors of its own making, floats around 1 and zeros for other types,
/// after one that does not count; about 0.1 seconds. On a CPU only; throws OptionsError for a GPU.
double measure_seconds(const Executable& executable);

std::string to_string(const Roofline& roofline);

}  // namespace tc::engine
