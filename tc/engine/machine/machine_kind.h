#pragma once

#include <string>
#include <string_view>

#include "tc/base/target.h"
#include "tc/cache/entry.h"
#include "tc/cpu/machine_limits.h"

namespace tc::engine {

/// Properties of a kind of machine that callers, caches and measurements of code need. A part of its back end.
struct MachineKind {
  bool
      own_memory;  ///< code runs on devices with their own memory, to which tensors are copied; otherwise in this process
  std::string_view no_model;  ///< why there is no model of cache traffic and time; "": there is one
  bool shares_options;        ///< options measured on one machine serve others of its architecture

  std::string (*code_tools)();      ///< versions of other tools that generate machine code; "" for none
  std::string (*name)(int device);  ///< of a device of this machine; throws DeviceError
  cache::Circumstances (*circumstances)(const Target& target);  ///< of code for \p target on this machine
  /// The limits of this machine in \p threads threads; zeros if they are not measured.
  cpu::MachineLimits (*limits)(const Target& target, int threads, DType type);
};

/// The kind of machine of \p target.
const MachineKind& machine_kind_of(const Target& target);

/// This process, with its threads.
const MachineKind& cpu_machine();
/// GPUs of this machine.
const MachineKind& cuda_machine();

}  // namespace tc::engine
