#include "tc/engine/run/constant.h"

#include <new>

namespace tc::engine {
namespace {

/// Where dense tensors begin: at a line of a cache.
constexpr std::align_val_t alignment{64};

}  // namespace

Constant allocate_constant(const std::string& name, const TensorSpec& spec) {
  const auto bytes = static_cast<std::size_t>(spec.element_count()) * static_cast<std::size_t>(byte_size(spec.dtype));
  auto release = [](void* data) { ::operator delete(data, alignment); };
  return {name, contiguous(spec.dtype, spec.shape), {::operator new(bytes, alignment), release}, std::nullopt};
}

}  // namespace tc::engine
