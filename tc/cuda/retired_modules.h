#pragma once

#include "tc/cuda/driver.h"

/// Modules whose kernels nobody launches any more. To unload one, or to wait for its kernels, would spoil a graph that
/// a stream records meanwhile, for example where a garbage collector ends an executable during a capture of torch. So
/// they stay until the next module is loaded into their device, which no capture allows either.
namespace tc::cuda {

/// Takes \p module of \p device; asks nothing of the driver. Thread-safe.
void retire(int device, Driver::Module module);

/// Unloads what was retired of \p device, whose context is current, when its kernels have ended. For a thread that has
/// just loaded a module.
void unload_retired(int device);

}  // namespace tc::cuda
