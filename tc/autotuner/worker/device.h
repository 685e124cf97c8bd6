#pragma once

#include <memory>

#include "tc/autotuner/worker/check.h"
#include "tc/autotuner/worker/timing.h"
#include "tc/base/target.h"
#include "tc/engine/run/executable.h"

namespace tc::autotuner {

/// A machine that candidates run on, with the tensors of a call. Belongs to one process of a job.
class Device {
 public:
  virtual ~Device() = default;

  /// Runs \p executable once on poisoned outputs; the host's tensors hold what all memory holds afterwards.
  virtual void run(const engine::Executable& executable) = 0;
  /// What a call takes, the mean of \p calls of them; run() has prepared it.
  virtual Timing time(const engine::Executable& executable, int calls) = 0;
};

/// The processor, for a target of it, else the GPU \p ordinal. Throws DeviceError where there is none.
/// \p tensors must outlive it.
std::unique_ptr<Device> make_device(const Target& target, int ordinal, Tensors& tensors);

/// The GPUs of this machine that \p target is for, or those of \p wanted, where that is not empty. Throws DeviceError,
/// which says what to do, where there is none, and OptionsError where a wanted one is none of them, or
/// wanted twice.
std::vector<int> find_gpus(const Target& target, const std::vector<int>& wanted);

}  // namespace tc::autotuner
