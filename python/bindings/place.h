#pragma once

#include "callable.h"
#include "tc/cuda/device.h"

namespace tc::python {

/// The device of the first of \p operands that is on one, else on_cpu.
int device_of(Operands& operands, std::size_t count);

/// \p device and the stream there that the framework uses now. Throws DeviceError where there is no driver.
cuda::Place current_place(int device);

/// Where \p executable runs on \p operands: their device and the framework's current stream there. Numbers among them
/// are moved to the device. Throws ArgumentError for tensors that are on the CPU or on several devices; DeviceError
/// where there is no driver.
cuda::Place place_of(const engine::Executable& executable, Operands& operands, std::size_t count);

/// Throws ArgumentError unless \p operands are all on the CPU, for which \p executable was compiled.
void check_on_cpu(const engine::Executable& executable, Operands& operands, std::size_t count);

}  // namespace tc::python
