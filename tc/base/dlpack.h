#pragma once

#include <dlpack/dlpack.h>

#include "tc/base/tensor.h"

namespace tc {

/// The view of a DLPack tensor on the CPU.
/// Throws ArgumentError for another device, lanes other than 1 and types the language lacks.
TensorView view_of(const DLTensor& tensor);

}  // namespace tc
