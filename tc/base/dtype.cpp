#include "tc/base/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <ostream>

namespace tc {
namespace {

struct Row {
  std::string_view name;
  int bits;
};
constexpr std::array<Row, 13> rows = {{{"bool", 8},
                                       {"int8", 8},
                                       {"int16", 16},
                                       {"int32", 32},
                                       {"int64", 64},
                                       {"uint8", 8},
                                       {"uint16", 16},
                                       {"uint32", 32},
                                       {"uint64", 64},
                                       {"float16", 16},
                                       {"bfloat16", 16},
                                       {"float32", 32},
                                       {"float64", 64}}};

/// \p value rounded to nearest even into a binary format of \p mantissa stored bits and \p exponent bits.
std::uint16_t round_to_format(double value, int mantissa, int exponent) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const int exponent_mask = (1 << exponent) - 1;
  const std::uint16_t infinity = static_cast<std::uint16_t>(exponent_mask << mantissa);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | (1 << (mantissa - 1)));
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | infinity;
  if (magnitude == 0) return sign;
  const int bias = (1 << (exponent - 1)) - 1;
  int power = std::max(std::ilogb(magnitude), 1 - bias);
  double units = std::nearbyint(std::ldexp(magnitude, mantissa - power));
  double steps = units + std::ldexp(static_cast<double>(power + bias - 1), mantissa);
  if (steps >= infinity) return sign | infinity;
  return sign | static_cast<std::uint16_t>(steps);
}

}  // namespace

std::string_view name(DType type) { return rows[static_cast<std::size_t>(type)].name; }

std::optional<DType> parse_dtype(std::string_view text) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].name == text) return static_cast<DType>(i);
  if (text == "float") return DType::Float32;
  if (text == "double") return DType::Float64;
  if (text == "half") return DType::Float16;
  if (text == "int") return DType::Int32;
  if (text == "byte") return DType::UInt8;
  return std::nullopt;
}

int bit_size(DType type) { return rows[static_cast<std::size_t>(type)].bits; }
int byte_size(DType type) { return bit_size(type) / 8; }
bool is_float(DType type) { return type >= DType::Float16; }
bool is_integer(DType type) { return type > DType::Bool && type < DType::Float16; }
bool is_signed_integer(DType type) { return type >= DType::Int8 && type <= DType::Int64; }
bool is_unsigned_integer(DType type) { return type >= DType::UInt8 && type <= DType::UInt64; }
bool is_half(DType type) { return type == DType::Float16 || type == DType::BFloat16; }
DType compute_type(DType type) { return is_half(type) ? DType::Float32 : type; }

DType accumulator_type(DType type) {
  if (is_half(type)) return DType::Float32;
  return type == DType::Int8 || type == DType::UInt8 ? DType::Int32 : type;
}

std::string_view spelling(ReductionOp op) {
  switch (op) {
    case ReductionOp::Sum:
      return "+";
    case ReductionOp::Product:
      return "*";
    case ReductionOp::Min:
      return "min";
    case ReductionOp::Max:
      return "max";
    case ReductionOp::And:
      return "&&";
    case ReductionOp::Or:
      return "||";
  }
  return "?";
}

std::ostream& operator<<(std::ostream& out, DType type) { return out << name(type); }
std::ostream& operator<<(std::ostream& out, ReductionOp op) { return out << spelling(op); }

float half_to_float(std::uint16_t bits) {
  int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  float magnitude;
  if (exponent == 31)
    magnitude = mantissa ? std::nanf("") : INFINITY;
  else if (exponent == 0)
    magnitude = std::ldexp(static_cast<float>(mantissa), -24);
  else
    magnitude = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

float bfloat_to_float(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
std::uint16_t double_to_half(double value) { return round_to_format(value, 10, 5); }
std::uint16_t double_to_bfloat(double value) { return round_to_format(value, 7, 8); }
std::uint16_t float_to_half(float value) { return double_to_half(value); }
std::uint16_t float_to_bfloat(float value) { return double_to_bfloat(value); }

}  // namespace tc
