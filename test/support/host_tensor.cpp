#include "test/support/host_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tc/base/str.h"

namespace tc::test {
namespace {

constexpr std::size_t guard_bytes = 64;
constexpr std::uint8_t guard_value = 0xA5;

template <typename T>
double load_as_double(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<double>(value);
}

template <typename T>
void store_as(std::uint8_t* to, double value) {
  T converted = static_cast<T>(value);
  std::memcpy(to, &converted, sizeof converted);
}

double load(DType type, const std::uint8_t* from) {
  switch (type) {
    case DType::Bool:
    case DType::UInt8:
      return load_as_double<std::uint8_t>(from);
    case DType::Int8:
      return load_as_double<std::int8_t>(from);
    case DType::Int16:
      return load_as_double<std::int16_t>(from);
    case DType::Int32:
      return load_as_double<std::int32_t>(from);
    case DType::Int64:
      return load_as_double<std::int64_t>(from);
    case DType::UInt16:
      return load_as_double<std::uint16_t>(from);
    case DType::UInt32:
      return load_as_double<std::uint32_t>(from);
    case DType::UInt64:
      return load_as_double<std::uint64_t>(from);
    case DType::Float32:
      return load_as_double<float>(from);
    case DType::Float64:
      return load_as_double<double>(from);
    case DType::Float16:
    case DType::BFloat16:
      break;
  }
  std::uint16_t bits;
  std::memcpy(&bits, from, sizeof bits);
  return type == DType::Float16 ? half_to_float(bits) : bfloat_to_float(bits);
}

void store(DType type, std::uint8_t* to, double value) {
  switch (type) {
    case DType::Bool:
      return store_as<std::uint8_t>(to, value != 0);
    case DType::UInt8:
      return store_as<std::uint8_t>(to, value);
    case DType::Int8:
      return store_as<std::int8_t>(to, value);
    case DType::Int16:
      return store_as<std::int16_t>(to, value);
    case DType::Int32:
      return store_as<std::int32_t>(to, value);
    case DType::Int64:
      return store_as<std::int64_t>(to, value);
    case DType::UInt16:
      return store_as<std::uint16_t>(to, value);
    case DType::UInt32:
      return store_as<std::uint32_t>(to, value);
    case DType::UInt64:
      return store_as<std::uint64_t>(to, value);
    case DType::Float32:
      return store_as<float>(to, value);
    case DType::Float64:
      return store_as<double>(to, value);
    case DType::Float16:
    case DType::BFloat16:
      break;
  }
  std::uint16_t bits = type == DType::Float16 ? double_to_half(value) : double_to_bfloat(value);
  std::memcpy(to, &bits, sizeof bits);
}

bool agree(double got, double want, double tolerance) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (std::isinf(want) || std::isinf(got)) return got == want;
  return std::fabs(got - want) <= tolerance * (1 + std::fabs(want));
}

std::vector<std::int64_t> index_of(std::int64_t flat, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}

}  // namespace

HostTensor::HostTensor(TensorSpec spec) : spec_(std::move(spec)) {
  auto span = element_span(spec_);
  const std::size_t size = byte_size(spec_.dtype), elements = span.high - span.low + 1, bytes = elements * size;
  const bool ends_at_page = elements % 2 == 1;
  const auto whole = (bytes + guard_bytes + page_bytes - 1) / page_bytes * page_bytes;
  bytes_.assign(ends_at_page ? guard_bytes + bytes : whole, guard_value);
  origin_ = (ends_at_page ? guard_bytes : 0) - span.low * size;
  element_.assign(bytes_.size(), false);
  for (std::int64_t i = 0; i < spec_.element_count(); ++i) {
    auto at = byte_offset(i);
    for (std::size_t b = 0; b < size; ++b) element_[at + b] = true;
  }
}

TensorView HostTensor::view() {
  TensorView result;
  static_cast<TensorSpec&>(result) = spec_;
  result.data = bytes_.data() + origin_;
  return result;
}

std::size_t HostTensor::byte_offset(std::int64_t flat) const {
  auto index = index_of(flat, spec_.shape);
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * spec_.strides[d];
  return origin_ + offset * byte_size(spec_.dtype);
}

double HostTensor::at(std::int64_t flat) const { return load(spec_.dtype, bytes_.data() + byte_offset(flat)); }

std::uint64_t HostTensor::bits_at(std::int64_t flat) const {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes_.data() + byte_offset(flat), byte_size(spec_.dtype));
  return bits;
}

void HostTensor::set(std::int64_t flat, double value) { store(spec_.dtype, bytes_.data() + byte_offset(flat), value); }

bool HostTensor::guards_intact() const {
  for (std::size_t i = 0; i < bytes_.size(); ++i)
    if (!element_[i] && bytes_[i] != guard_value) return false;
  return true;
}

HostTensor random_integers(const TensorSpec& spec, std::int64_t low, std::int64_t high, std::mt19937_64& random) {
  HostTensor result(spec);
  std::uniform_int_distribution<std::int64_t> value(low, high - 1);
  for (std::int64_t i = 0; i < spec.element_count(); ++i) result.set(i, static_cast<double>(value(random)));
  return result;
}

HostTensor ascending_integers(const TensorSpec& spec, std::int64_t low, std::int64_t high, std::mt19937_64& random) {
  HostTensor result(spec);
  std::uniform_int_distribution<std::int64_t> value(low, high - 1);
  std::vector<double> values;
  for (std::int64_t i = 0; i < spec.element_count(); ++i) values.push_back(static_cast<double>(value(random)));
  std::sort(values.begin(), values.end());
  for (std::int64_t i = 0; i < spec.element_count(); ++i) result.set(i, values[static_cast<std::size_t>(i)]);
  return result;
}

std::optional<std::string> difference(const HostTensor& got, const HostTensor& want, double tolerance) {
  for (std::int64_t i = 0; i < want.spec().element_count(); ++i) {
    bool same = got.bits_at(i) == want.bits_at(i);
    bool integers = !is_float(want.spec().dtype);
    if (same || (!integers && agree(got.at(i), want.at(i), tolerance))) continue;
    return str("element (", join(index_of(i, want.spec().shape)), ") is ", got.at(i), ", expected ", want.at(i));
  }
  return std::nullopt;
}

}  // namespace tc::test
