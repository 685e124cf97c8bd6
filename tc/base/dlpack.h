#pragma once

#include <dlpack/dlpack.h>

#include "tc/base/tensor.h"

namespace tc {

/// The view of a DLPack tensor on the CPU.
/// Throws ArgumentError for another device, lanes other than 1, types the language lacks and what is no tensor: a number
/// of dimensions that is negative or above 64, no shape, sizes and strides that check_tensor() refuses, elements without
/// memory.
TensorView view_of(const DLTensor& tensor);

/// DLPack's name of \p type.
DLDataType dlpack_type_of(DType type);

/// Where a tensor's memory is: the number of its CUDA device, or on_cpu. Throws ArgumentError for other devices.
inline constexpr int on_cpu = -1;
int device_of(const DLTensor& tensor);
/// As view_of, for a tensor on any device that device_of knows.
TensorView view_on_device(const DLTensor& tensor);

}  // namespace tc
