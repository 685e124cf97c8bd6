#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "tc/base/tensor.h"

namespace tc::aten {

/// torch's type of elements of \p type; all types of the language have one.
at::ScalarType scalar_type(DType type);
/// The spec of \p tensor, which \p name names in errors; sizes that torch keeps as symbols become numbers. Throws ArgumentError for what
/// is undefined, not strided, or of a type the language lacks.
TensorSpec spec_of(const at::Tensor& tensor, const std::string& name);
/// The memory of \p tensor, borrowed; \p written takes it as torch does for what is written to. Throws ArgumentError as spec_of,
/// and for tensors that are negated lazily or have no memory of their own, as fake ones and those that transforms wrap.
TensorView view_of(const at::Tensor& tensor, const std::string& name, bool written);
/// The number of the CUDA device whose memory \p tensor is in, or on_cpu. Throws ArgumentError for other devices.
int device_of(const at::Tensor& tensor, const std::string& name);

}  // namespace tc::aten
