#pragma once

#include <string>
#include <string_view>

#include "tc/base/target.h"
#include "tc/cache/entry.h"
#include "tc/cpu/machine_limits.h"

namespace tc::engine {

/// What those who call, keep or measure code ask about the kind of machine that its target is. A part of its back end.
struct MachineKind {
  bool own_memory;  ///< code runs on devices to whose memory tensors are copied; else in this process
  std::string_view
      no_model;         ///< why no model tells what code moves between caches, and how long it takes; "": there is one
  bool shares_options;  ///< options measured on one machine serve others of its architecture

  std::string (*code_tools)();      ///< versions of what makes machine code beside this library; "" for nothing
  std::string (*name)(int device);  ///< of a device of this machine; throws DeviceError
  cache::Circumstances (*circumstances)(const Target& target);  ///< where code for \p target runs on this machine
  /// What this machine can do at most in \p threads threads; zeros where that is not measured.
  cpu::MachineLimits (*limits)(const Target& target, int threads, DType type);
};

/// That of \p target.
const MachineKind& machine_kind_of(const Target& target);

/// This process, with its threads.
const MachineKind& cpu_machine();
/// GPUs of this machine.
const MachineKind& cuda_machine();

}  // namespace tc::engine
