#include "tc/lang/check/promote.h"

#include <utility>

namespace tc::lang {
namespace {

DType signed_integer(int bits) {
  return bits <= 8 ? DType::Int8 : bits <= 16 ? DType::Int16 : bits <= 32 ? DType::Int32 : DType::Int64;
}

std::optional<DType> promote_integers(DType a, DType b) {
  if (is_signed_integer(a) == is_signed_integer(b)) return bit_size(a) >= bit_size(b) ? a : b;
  if (is_unsigned_integer(a)) std::swap(a, b);
  if (bit_size(a) > bit_size(b)) return a;
  if (bit_size(b) == 64) return std::nullopt;
  return signed_integer(2 * bit_size(b));
}

}  // namespace

std::optional<DType> promote(DType a, DType b) {
  if (a == b || b == DType::Bool) return a;
  if (a == DType::Bool) return b;
  if (is_half(a) && is_half(b)) return DType::Float32;
  if (is_float(a) && is_float(b)) return bit_size(a) >= bit_size(b) ? a : b;
  if (is_float(a)) return a;
  if (is_float(b)) return b;
  return promote_integers(a, b);
}

bool converts_silently(DType from, DType to) {
  if (from == to || from == DType::Bool) return true;
  if (is_integer(from)) return is_integer(to) || is_float(to);
  return is_float(to);
}

}  // namespace tc::lang
