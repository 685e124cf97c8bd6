#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tc::emulator {

/// A `__global__` function of a text.
struct KernelSignature {
  std::string name;
  std::string launch_bounds;  ///< what stands between the parentheses of __launch_bounds__; empty without one
};

/// The kernels \p text defines, in order.
std::vector<KernelSignature> find_kernels(const std::string& text);

/// \p text as C++ behind the host prelude: dynamic shared arrays become pointers, and every kernel gets a function
/// tc_emulator_call_<name>(void** arguments) that calls it. Lines stay where they are.
///
///   extern __shared__ float tile[];   ->   float* tile = (float*)tc_emulator_dynamic_shared();
std::string to_host_text(const std::string& text);

/// What \p text calls the dynamic shared array of \p count elements at byte \p offset: "tile" of
/// "tile = tc_shared_memory<float>(128, 33)".
std::string shared_array_name(const std::string& text, std::int64_t offset, std::int64_t count);

}  // namespace tc::emulator
