#include "tc/aten/tensor.h"

#include <utility>

#include "tc/base/dlpack.h"
#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::aten {
namespace {

constexpr std::pair<DType, at::ScalarType> types[] = {
    {DType::Bool, at::kBool},      {DType::Int8, at::kChar},         {DType::Int16, at::kShort},
    {DType::Int32, at::kInt},      {DType::Int64, at::kLong},        {DType::UInt8, at::kByte},
    {DType::UInt16, at::kUInt16},  {DType::UInt32, at::kUInt32},     {DType::UInt64, at::kUInt64},
    {DType::Float16, at::kHalf},   {DType::BFloat16, at::kBFloat16}, {DType::Float32, at::kFloat},
    {DType::Float64, at::kDouble},
};

DType dtype_of(const at::Tensor& tensor, const std::string& name) {
  for (const auto& [ours, theirs] : types)
    if (theirs == tensor.scalar_type()) return ours;
  throw ArgumentError(
      str("'", name, "' has elements of ", c10::toString(tensor.scalar_type()), ", which is no type of the language"));
}

std::vector<std::int64_t> numbers(at::SymIntArrayRef sizes) {
  std::vector<std::int64_t> result;
  for (const auto& size : sizes) result.push_back(size.guard_int(__FILE__, __LINE__));
  return result;
}

/// The first element of \p tensor; null where torch does not give it, as it says by throwing.
void* memory_of(const at::Tensor& tensor, bool written) {
  if (!tensor.has_storage()) return nullptr;
  try {
    return written ? tensor.mutable_data_ptr() : const_cast<void*>(tensor.const_data_ptr());
  } catch (const c10::Error&) {
    return nullptr;
  }
}

}  // namespace

at::ScalarType scalar_type(DType type) {
  for (const auto& [ours, theirs] : types)
    if (ours == type) return theirs;
  throw InternalError(str("torch has no type ", type));
}

TensorSpec spec_of(const at::Tensor& tensor, const std::string& name) {
  if (!tensor.defined()) throw ArgumentError(str("'", name, "' is an undefined tensor"));
  if (tensor.layout() != at::kStrided)
    throw ArgumentError(str("'", name, "' is not strided: pass ", name, ".to_dense()"));
  return {dtype_of(tensor, name), numbers(tensor.sym_sizes()), numbers(tensor.sym_strides())};
}

TensorView view_of(const at::Tensor& tensor, const std::string& name, bool written) {
  TensorView view;
  static_cast<TensorSpec&>(view) = spec_of(tensor, name);
  if (tensor.is_neg()) throw ArgumentError(str("'", name, "' is a lazily negated view: pass ", name, ".resolve_neg()"));
  view.data = memory_of(tensor, written);
  if (!view.data && view.element_count() != 0)
    throw ArgumentError(str("'", name, "' has a shape but no memory, as tensors of \"meta\" and those that transforms ",
                            "wrap: pass a real tensor, or call an operator of the def"));
  return view;
}

int device_of(const at::Tensor& tensor, const std::string& name) {
  if (tensor.is_cpu() || tensor.is_meta()) return on_cpu;
  if (tensor.is_cuda()) return tensor.device().index();
  throw ArgumentError(str("'", name, "' is on '", tensor.device().str(), "': kernels run on a CPU or a CUDA device"));
}

}  // namespace tc::aten
