#include "tc/base/dlpack.h"

#include "tc/base/check_tensor.h"
#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc {
namespace {

/// Of DLPack 0.8.
constexpr int bool_code = 6;

DType dtype_of(const DLDataType& type) {
  if (type.lanes != 1) throw ArgumentError(str("tensors of ", type.lanes, "-lane vectors are not supported"));
  switch (static_cast<int>(type.code)) {
    case kDLInt:
      if (type.bits == 8) return DType::Int8;
      if (type.bits == 16) return DType::Int16;
      if (type.bits == 32) return DType::Int32;
      if (type.bits == 64) return DType::Int64;
      break;
    case kDLUInt:
      if (type.bits == 1) return DType::Bool;
      if (type.bits == 8) return DType::UInt8;
      if (type.bits == 16) return DType::UInt16;
      if (type.bits == 32) return DType::UInt32;
      if (type.bits == 64) return DType::UInt64;
      break;
    case kDLFloat:
      if (type.bits == 16) return DType::Float16;
      if (type.bits == 32) return DType::Float32;
      if (type.bits == 64) return DType::Float64;
      break;
    case kDLBfloat:
      if (type.bits == 16) return DType::BFloat16;
      break;
    case bool_code:
      if (type.bits == 8) return DType::Bool;
      break;
    default:
      break;
  }
  throw ArgumentError(
      str("the DLPack type with code ", int(type.code), " and ", int(type.bits), " bits is not supported"));
}

}  // namespace

DLDataType dlpack_type_of(DType type) {
  const int code = type == DType::Bool         ? bool_code
                   : type == DType::BFloat16   ? kDLBfloat
                   : is_float(type)            ? kDLFloat
                   : is_unsigned_integer(type) ? kDLUInt
                                               : kDLInt;
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bit_size(type)), 1};
}

TensorView view_of(const DLTensor& tensor) {
  if (device_of(tensor) != on_cpu)
    throw ArgumentError(
        "a tensor on a GPU was given; this target needs tensors in CPU memory: copy it to the CPU first");
  return view_on_device(tensor);
}

int device_of(const DLTensor& tensor) {
  switch (static_cast<int>(tensor.device.device_type)) {
    case kDLCPU:
    case kDLCUDAHost:
      return on_cpu;
    case kDLCUDA:
    case kDLCUDAManaged:
      return tensor.device.device_id;
    default:
      throw ArgumentError(
          str("a tensor on DLPack device type ", int(tensor.device.device_type),
              " was given; tensors must be in the memory of the CPU or of a CUDA device: copy it there first"));
  }
}

TensorView view_on_device(const DLTensor& tensor) {
  constexpr int most_dimensions = 64;
  TensorView view;
  view.dtype = dtype_of(tensor.dtype);
  if (tensor.ndim < 0 || tensor.ndim > most_dimensions)
    throw ArgumentError(str("the DLPack tensor has ", tensor.ndim, " dimensions, of 0 to ", most_dimensions));
  if (tensor.ndim > 0 && !tensor.shape)
    throw ArgumentError(str("the DLPack tensor has ", tensor.ndim, " dimensions and no shape"));
  if (tensor.ndim > 0) view.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  check_shape(view.shape, "the DLPack tensor");
  if (tensor.ndim > 0 && tensor.strides)
    view.strides.assign(tensor.strides, tensor.strides + tensor.ndim);
  else
    view.strides = row_major_strides(view.shape);
  view.data = tensor.data;
  check_tensor(view, "the DLPack tensor");
  if (tensor.data) view.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  return view;
}

}  // namespace tc
