#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "tc/base/dtype.h"

/// Scalar arithmetic of the language. Integers travel as std::int64_t: sign- or zero-extended from their type, the bits
/// of a uint64; bool is 0 or 1. Halves and float32 travel as double.
namespace tc::lang {

/// \p value modulo 2^bits of \p type; for bool, whether it is not 0.
inline std::int64_t wrap(DType type, std::int64_t value) {
  switch (type) {
    case DType::Bool:
      return value != 0;
    case DType::Int8:
      return static_cast<std::int8_t>(value);
    case DType::Int16:
      return static_cast<std::int16_t>(value);
    case DType::Int32:
      return static_cast<std::int32_t>(value);
    case DType::UInt8:
      return static_cast<std::uint8_t>(value);
    case DType::UInt16:
      return static_cast<std::uint16_t>(value);
    case DType::UInt32:
      return static_cast<std::uint32_t>(value);
    default:
      return value;
  }
}

/// The 64-bit sum, difference and product modulo 2^64.
inline std::int64_t add_bits(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
/// The difference, modulo 2^64.
inline std::int64_t sub_bits(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
/// The product, modulo 2^64.
inline std::int64_t mul_bits(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// The power, modulo 2^64.
inline std::int64_t power_bits(std::int64_t a, std::int64_t n) {
  std::int64_t power = 1;
  for (; n > 0; --n) power = mul_bits(power, a);
  return power;
}

/// floor(a / b); 0 for b = 0; the lowest number over -1 wraps.
inline std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return sub_bits(0, a);
  std::int64_t quotient = a / b;
  return quotient - ((a % b != 0) && ((a % b < 0) != (b < 0)));
}
/// a - b * floor(a / b); 0 for b = 0.
inline std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1) return 0;
  std::int64_t rest = a % b;
  return rest != 0 && ((rest < 0) != (b < 0)) ? rest + b : rest;
}
/// The quotient of the bits as unsigned numbers; 0 for a divisor of 0.
inline std::int64_t unsigned_div(std::int64_t a, std::int64_t b) {
  return b == 0 ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(a) / static_cast<std::uint64_t>(b));
}
/// The rest of that quotient.
inline std::int64_t unsigned_mod(std::int64_t a, std::int64_t b) {
  return b == 0 ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(a) % static_cast<std::uint64_t>(b));
}

/// \p a shifted by \p n bits of \p type. Where the type does not have so many, or \p n is negative, all bits go.
inline std::int64_t shift_left(DType type, std::int64_t a, std::int64_t n) {
  const bool has = static_cast<std::uint64_t>(n) < static_cast<std::uint64_t>(bit_size(type));
  return has ? wrap(type, static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << n)) : 0;
}
/// Likewise to the right: a signed number keeps its sign.
inline std::int64_t shift_right(DType type, std::int64_t a, std::int64_t n) {
  const bool has = static_cast<std::uint64_t>(n) < static_cast<std::uint64_t>(bit_size(type));
  if (is_signed_integer(type)) return a >> (has ? n : 63);
  return has ? static_cast<std::int64_t>(static_cast<std::uint64_t>(a) >> n) : 0;
}

/// a < b among values of \p type.
inline bool less(DType type, std::int64_t a, std::int64_t b) {
  return type == DType::UInt64 ? static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b) : a < b;
}

/// The lowest and highest value of an integer type or bool.
inline std::int64_t lowest_integer(DType type) {
  if (!is_signed_integer(type)) return 0;
  return std::numeric_limits<std::int64_t>::min() >> (64 - bit_size(type));
}
/// The highest value of an integer type.
inline std::int64_t highest_integer(DType type) {
  if (type == DType::Bool) return 1;
  if (is_signed_integer(type)) return std::numeric_limits<std::int64_t>::max() >> (64 - bit_size(type));
  return static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - bit_size(type)));
}

/// \p value rounded to the float type \p type.
inline double round_to(DType type, double value) {
  switch (type) {
    case DType::Float16:
      return half_to_float(double_to_half(value));
    case DType::BFloat16:
      return bfloat_to_float(double_to_bfloat(value));
    case DType::Float32:
      return static_cast<float>(value);
    default:
      return value;
  }
}

/// The number an integer of \p type denotes, as the nearest double.
inline double to_double(DType type, std::int64_t value) {
  return type == DType::UInt64 ? static_cast<double>(static_cast<std::uint64_t>(value)) : static_cast<double>(value);
}

/// \p value cut towards zero and saturated into the integer type \p type; NaN gives 0. For bool: whether it is not 0.
inline std::int64_t truncate_to(DType type, double value) {
  if (type == DType::Bool) return value != 0;
  if (std::isnan(value)) return 0;
  if (value <= to_double(type, lowest_integer(type))) return lowest_integer(type);
  if (value >= to_double(type, highest_integer(type))) return highest_integer(type);
  return type == DType::UInt64 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(value))
                               : static_cast<std::int64_t>(value);
}

/// The smaller and larger number; NaN if one is.
inline double nan_min(double a, double b) { return std::isnan(a) || a < b ? a : b; }
inline double nan_max(double a, double b) { return std::isnan(a) || a > b ? a : b; }

}  // namespace tc::lang
