#include "tc/halide_bridge/raise/allocate_buffer.h"

#include <algorithm>
#include <limits>

#include "tc/halide_bridge/stmt/element.h"

namespace tc::halide_bridge {
namespace {

using Halide::Expr;
using Halide::Int;
namespace ir = Halide::Internal;
using ir::Stmt;

/// Local buffers up to this size are on the stack.
constexpr std::int64_t max_stack_bytes = 16 << 10;

std::int64_t bytes(const polyhedral::Tensor& tensor) {
  std::int64_t size = 1;
  for (std::size_t i = 0; i < tensor.extent.size(); ++i)
    size += (tensor.extent[i] - 1) * std::max<std::int64_t>(tensor.strides[i], 0);
  return size * byte_size(tensor.type);
}

}  // namespace

bool lives_in_kernel(const polyhedral::Tensor& tensor) {
  return tensor.storage == polyhedral::Tensor::Storage::Local && (tensor.shared || tensor.in_registers);
}

bool fits_stack(const polyhedral::Tensor& tensor) { return bytes(tensor) <= max_stack_bytes; }

Stmt allocate_buffer(const polyhedral::Tensor& tensor, const Stmt& body) {
  auto size = bytes(tensor) / byte_size(tensor.type);
  auto memory = tensor.shared         ? Halide::MemoryType::GPUShared
                : tensor.in_registers ? Halide::MemoryType::Register
                : fits_stack(tensor)  ? Halide::MemoryType::Stack
                                      : Halide::MemoryType::Heap;
  Expr extent =
      size <= std::numeric_limits<int>::max() ? Expr(static_cast<int>(size)) : ir::IntImm::make(Int(64), size);
  return ir::Allocate::make(tensor.name, storage_type(tensor.type), memory, {extent}, ir::const_true(), body);
}

}  // namespace tc::halide_bridge
