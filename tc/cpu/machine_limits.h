#pragma once

#include <cstdint>

#include "tc/base/dtype.h"

namespace tc::cpu {

/// What this machine can do at most, measured, in 10^9 a second.
struct MachineLimits {
  double flops = 0;      ///< independent multiply-adds in the widest vectors there are, two each; 0: not measured
  double bandwidth = 0;  ///< bytes read from and written to memory, the better of reading and of changing in place
};

/// The limits of \p threads threads for \p type, float32 or float64. Measured on the first call for a number of threads
/// and type, about 0.2 seconds, and kept for the process. Memory is measured in a buffer of four times \p cache_bytes,
/// at least 64 MB and at most 512 MB, freed afterwards.
MachineLimits machine_limits(int threads, DType type, std::int64_t cache_bytes);

}  // namespace tc::cpu
