#include "tc/lang/interpret/storage.h"

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/interpret/arithmetic.h"

namespace tc::lang {
namespace {

template <typename T>
T element(const Storage& storage, std::int64_t offset) {
  return read_element<T>(storage.data, offset);
}

template <typename T>
void set_element(const Storage& storage, std::int64_t offset, T value) {
  std::memcpy(static_cast<char*>(storage.data) + offset * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

}  // namespace

std::int64_t load_integer(const Storage& storage, std::int64_t offset) {
  switch (storage.type) {
    case DType::Bool:
      return element<std::uint8_t>(storage, offset) != 0;
    case DType::Int8:
      return element<std::int8_t>(storage, offset);
    case DType::Int16:
      return element<std::int16_t>(storage, offset);
    case DType::Int32:
      return element<std::int32_t>(storage, offset);
    case DType::Int64:
      return element<std::int64_t>(storage, offset);
    case DType::UInt8:
      return element<std::uint8_t>(storage, offset);
    case DType::UInt16:
      return element<std::uint16_t>(storage, offset);
    case DType::UInt32:
      return element<std::uint32_t>(storage, offset);
    case DType::UInt64:
      return static_cast<std::int64_t>(element<std::uint64_t>(storage, offset));
    default:
      throw InternalError(str(storage.name, " holds no integers"));
  }
}

double load_float(const Storage& storage, std::int64_t offset) {
  switch (storage.type) {
    case DType::Float16:
      return half_to_float(element<std::uint16_t>(storage, offset));
    case DType::BFloat16:
      return bfloat_to_float(element<std::uint16_t>(storage, offset));
    case DType::Float32:
      return element<float>(storage, offset);
    case DType::Float64:
      return element<double>(storage, offset);
    default:
      throw InternalError(str(storage.name, " holds no floats"));
  }
}

void store_integer(const Storage& storage, std::int64_t offset, std::int64_t value) {
  switch (byte_size(storage.type)) {
    case 1:
      set_element<std::uint8_t>(storage, offset, static_cast<std::uint8_t>(wrap(storage.type, value)));
      break;
    case 2:
      set_element<std::uint16_t>(storage, offset, static_cast<std::uint16_t>(value));
      break;
    case 4:
      set_element<std::uint32_t>(storage, offset, static_cast<std::uint32_t>(value));
      break;
    default:
      set_element<std::uint64_t>(storage, offset, static_cast<std::uint64_t>(value));
      break;
  }
}

void store_float(const Storage& storage, std::int64_t offset, double value) {
  switch (storage.type) {
    case DType::Float16:
      set_element<std::uint16_t>(storage, offset, double_to_half(value));
      break;
    case DType::BFloat16:
      set_element<std::uint16_t>(storage, offset, double_to_bfloat(value));
      break;
    case DType::Float32:
      set_element<float>(storage, offset, static_cast<float>(value));
      break;
    default:
      set_element<double>(storage, offset, value);
      break;
  }
}

}  // namespace tc::lang
