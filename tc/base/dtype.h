#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string_view>

namespace tc {

/// Element types of the language, in the order of LANGUAGE: bool, integers, floats.
enum class DType : std::uint8_t {
  Bool,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Float16,
  BFloat16,
  Float32,
  Float64,
};

/// The canonical spelling: "bool", "int8", ..., "bfloat16", "float32", "float64".
std::string_view name(DType type);
/// The type a canonical name or an alias (float, double, half, int, byte) denotes.
std::optional<DType> parse_dtype(std::string_view text);

/// Size of one element in bytes; bool takes one.
int byte_size(DType type);
int bit_size(DType type);
bool is_float(DType type);
/// Signed or unsigned integer; bool is none.
bool is_integer(DType type);
bool is_signed_integer(DType type);
bool is_unsigned_integer(DType type);
/// float16 or bfloat16: types that compute in float32 and round when stored.
bool is_half(DType type);
/// The type values of \p type are computed in: float32 for the two half types, else itself.
DType compute_type(DType type);
/// The type a sum, product, ... of \p type accumulates in: float32 for halves, int32 for int8 and uint8.
DType accumulator_type(DType type);

/// The element operators a reduction may have.
enum class ReductionOp : std::uint8_t { Sum, Product, Min, Max, And, Or };

/// The operator's spelling without '=': "+", "*", "min", "max", "&&", "||".
std::string_view spelling(ReductionOp op);

std::ostream& operator<<(std::ostream& out, DType type);
std::ostream& operator<<(std::ostream& out, ReductionOp op);

/// Conversions between the bits of a half type and float32, round to nearest even.
float half_to_float(std::uint16_t bits);
std::uint16_t float_to_half(float value);
float bfloat_to_float(std::uint16_t bits);
std::uint16_t float_to_bfloat(float value);
/// The same from float64, rounded once.
std::uint16_t double_to_half(double value);
std::uint16_t double_to_bfloat(double value);

}  // namespace tc
