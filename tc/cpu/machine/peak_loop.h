#pragma once

#include "tc/base/dtype.h"

namespace tc::cpu {

/// A loop of independent multiply-adds in the widest vectors there are, which hide each other's latency.
struct PeakLoop {
  void (*run)() = nullptr;  ///< null: the processor has no multiply-add
  double flops = 0;         ///< of one call
};

/// The loop of this machine for \p type, float32 or float64.
PeakLoop peak_loop(DType type);

/// Lets the other thread of a core run, in a loop that waits.
void pause_thread();

}  // namespace tc::cpu
