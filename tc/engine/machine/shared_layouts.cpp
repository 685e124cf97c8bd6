#include "tc/engine/machine/shared_layouts.h"

#include <algorithm>
#include <map>
#include <optional>

#include "tc/base/dtype.h"
#include "tc/base/matrix_unit.h"
#include "tc/base/shared_banks.h"
#include "tc/cuda/swizzled_buffers.h"
#include "tc/cuda/warp_accesses.h"
#include "tc/halide_bridge/lower/program.h"

namespace tc::engine {
namespace {

using polyhedral::Tensor;

/// The largest numbers that runs of \p scop choose, by the variables that are these.
std::map<std::string, std::int64_t> largest_numbers(const polyhedral::Scop& scop) {
  std::map<std::string, std::int64_t> result;
  for (const auto& parameter : scop.parameters)
    if (polyhedral::is_size_parameter(parameter.name))
      result[halide_bridge::size_variable(polyhedral::size_of_parameter(parameter.name))] = parameter.max;
  for (const auto& tensor : scop.tensors)
    for (std::size_t d = 0; d < tensor.stride_variables.size(); ++d)
      if (!tensor.stride_variables[d].empty()) result[tensor.stride_variables[d]] = tensor.strides[d];
  return result;
}

/// The accesses of the first and the last warp of a block.
std::vector<WarpAccess> accesses_of_warps(const polyhedral::GridKernel& kernel, const Halide::Internal::Stmt& body,
                                          const GridLimits& limits) {
  auto threads = kernel.block[0] * kernel.block[1] * kernel.block[2];
  cuda::WarpPlace warp{kernel.block, 0, static_cast<int>(limits.warp_size), largest_numbers(kernel.scop)};
  auto result = cuda::warp_accesses(body, warp);
  warp.first_thread = (threads - 1) / limits.warp_size * limits.warp_size;
  if (warp.first_thread == 0) return result;
  auto last = cuda::warp_accesses(body, warp);
  result.insert(result.end(), last.begin(), last.end());
  return result;
}

/// Elements from one row of \p tensor to the next; nothing where it has no rows.
std::optional<std::int64_t> pitch_of(const Tensor& tensor) {
  std::optional<std::int64_t> pitch;
  for (std::size_t i = 0; i < tensor.extent.size(); ++i)
    if (tensor.extent[i] > 1 && tensor.strides[i] > 1)
      pitch = pitch ? std::min(*pitch, tensor.strides[i]) : tensor.strides[i];
  return pitch;
}

std::optional<SharedLayout> layout_of(const Tensor& tensor) {
  auto pitch = pitch_of(tensor);
  if (!pitch) return std::nullopt;
  SharedLayout layout{1, 1, *pitch, {}};
  for (std::size_t i = 0; i < tensor.extent.size(); ++i) {
    if (tensor.extent[i] <= 1) continue;
    if (tensor.strides[i] == 1) {
      layout.columns = tensor.extent[i];
    } else if (tensor.strides[i] % *pitch == 0) {
      layout.rows += (tensor.extent[i] - 1) * (tensor.strides[i] / *pitch);
    } else {
      return std::nullopt;
    }
  }
  return layout;
}

void set_pitch(Tensor& tensor, std::int64_t before, std::int64_t after) {
  for (auto& stride : tensor.strides)
    if (stride >= before) stride = stride / before * after;
}

/// The swizzled layout of 128 bytes, which units of groups of warps ask for, of rows of \p now.
Swizzle layout_of_units(const SharedLayout& now) {
  Swizzle result{3, 6, 3};
  if (now.pitch > unit_row_elements) {
    result.panel = unit_row_elements;
    result.columns = now.pitch;
    result.rows = now.rows;
  }
  return result;
}

}  // namespace

SharedLayouts choose_shared_layouts(polyhedral::GridKernel& kernel, const Halide::Internal::Stmt& body,
                                    const GridLimits& limits) {
  SharedLayouts result;
  std::optional<std::vector<WarpAccess>> accesses;
  const auto described = cuda::described_buffers(body);
  for (auto& tensor : kernel.scop.tensors) {
    if (tensor.storage != Tensor::Storage::Local || !tensor.shared) continue;
    auto now = layout_of(tensor);
    if (!now) continue;
    if (described.count(tensor.name)) {
      result.swizzles[tensor.name] = layout_of_units(*now);
      continue;
    }
    if (!accesses) accesses = accesses_of_warps(kernel, body, limits);
    std::vector<WarpAccess> own;
    for (const auto& access : *accesses)
      if (access.buffer == tensor.name) own.push_back(access);
    auto room = std::max<std::int64_t>(0, limits.block_shared_bytes - kernel.shared_bytes);
    auto best = best_layout(own, *now, limits.shared_banks, now->elements() + room / byte_size(tensor.type));
    if (best == *now) continue;
    kernel.shared_bytes += (best.elements() - now->elements()) * byte_size(tensor.type);
    result.padded = result.padded || best.pitch != now->pitch;
    set_pitch(tensor, now->pitch, best.pitch);
    if (best.swizzle.bits > 0) result.swizzles[tensor.name] = best.swizzle;
  }
  return result;
}

}  // namespace tc::engine
