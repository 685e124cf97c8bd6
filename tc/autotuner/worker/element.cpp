#include "tc/autotuner/worker/element.h"

#include <cstring>

namespace tc::autotuner {
namespace {

template <typename T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

void store_element(DType type, double value, char* at) {
  auto store = [&](auto typed) { std::memcpy(at, &typed, sizeof typed); };
  if (type == DType::Float64) return store(value);
  if (type == DType::Float32) return store(static_cast<float>(value));
  if (type == DType::Float16) return store(double_to_half(value));
  if (type == DType::BFloat16) return store(double_to_bfloat(value));
  auto whole = static_cast<std::int64_t>(value);
  std::memcpy(at, &whole, static_cast<std::size_t>(byte_size(type)));
}

double load_float(DType type, const char* at) {
  if (type == DType::Float16) return half_to_float(load<std::uint16_t>(at));
  if (type == DType::BFloat16) return bfloat_to_float(load<std::uint16_t>(at));
  if (type == DType::Float32) return load<float>(at);
  return load<double>(at);
}

}  // namespace tc::autotuner
