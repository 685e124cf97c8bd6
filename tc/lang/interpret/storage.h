#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tc/base/dtype.h"
#include "tc/lang/interpret/ranges.h"

namespace tc::lang {

/// The memory of a tensor as the interpreter sees it: `data` is the element at the lowest index of the box.
struct Storage {
  std::string name;
  DType type = DType::Float32;
  Box box;
  std::vector<std::int64_t> strides;  ///< in elements
  void* data = nullptr;
};

/// The T stored \p offset elements behind \p data, which may have any alignment.
template <typename T>
T read_element(const void* data, std::int64_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + offset * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

/// The element \p offset elements behind the first one; halves and float32 as double, see arithmetic.h for integers.
std::int64_t load_integer(const Storage& storage, std::int64_t offset);
double load_float(const Storage& storage, std::int64_t offset);
/// Stores after rounding or wrapping to the tensor's type.
void store_integer(const Storage& storage, std::int64_t offset, std::int64_t value);
void store_float(const Storage& storage, std::int64_t offset, double value);

}  // namespace tc::lang
