#pragma once

#include <span>
#include <string_view>

namespace tc::cuda {

/// A function that kernel text may call. The device prelude defines it by inline PTX or CUDA intrinsics, the host
/// emulator by its own model of the machine; kernel text includes "tc_prelude.h", of which each has its own.
struct PreludeFunction {
  std::string_view name;
  std::string_view declaration;
  std::string_view meaning;
};

/// Every name beyond C++ that kernel text may use, besides native_functions() and native_words().
std::span<const PreludeFunction> prelude_functions();

/// The functions of CUDA that kernel text calls by CUDA's own names, in float64 and (with f) float32: exp and expf. The
/// emulator takes them from the C library or tc/lang/interpret/math.h.
std::span<const std::string_view> native_functions();

/// The other words of CUDA in kernel text: __global__, __launch_bounds__, __restrict__, blockIdx, threadIdx, ...
std::span<const std::string_view> native_words();

/// Name by which kernel text includes the prelude.
inline constexpr std::string_view prelude_file = "tc_prelude.h";

/// The prelude for the device; needs no header and no include path.
std::string_view device_prelude();

}  // namespace tc::cuda
