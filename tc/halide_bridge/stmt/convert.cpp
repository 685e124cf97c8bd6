#include "tc/halide_bridge/stmt/convert.h"

#include "tc/halide_bridge/stmt/value_name.h"

namespace tc::halide_bridge {
namespace {

using Halide::Expr;
using Halide::Type;
using Halide::UInt;
namespace ir = Halide::Internal;

const std::string from_bfloat = "tc_from_bfloat_f32", to_bfloat = "tc_to_bfloat_u16";

Expr bits_of(const Expr& value, const Type& type) {
  return ir::Call::make(type, ir::Call::reinterpret, {value}, ir::Call::PureIntrinsic);
}
Expr unsigned32(std::uint32_t value, int lanes) {
  return ir::make_const(UInt(32, lanes), static_cast<std::uint64_t>(value));
}

/// \p body of a variable that stands for \p value, which is then computed once.
template <typename Body>
Expr let(const Expr& value, Body body) {
  auto name = value_name("bits");
  return ir::Let::make(name, value, body(ir::Variable::make(value.type(), name)));
}

Expr encode_bfloat(const Expr& value) {
  int n = value.type().lanes();
  return let(bits_of(value, UInt(32, n)), [&](const Expr& bits) {
    Expr odd = (bits >> unsigned32(16, n)) & unsigned32(1, n);
    Expr rounded = (bits + unsigned32(0x7fff, n) + odd) >> unsigned32(16, n);
    Expr nan = ((bits >> unsigned32(16, n)) & unsigned32(0x8000, n)) | unsigned32(0x7fc0, n);
    Expr is_nan = (bits & unsigned32(0x7fffffff, n)) > unsigned32(0x7f800000, n);
    return ir::Cast::make(UInt(16, n), ir::Select::make(is_nan, nan, rounded));
  });
}

/// A float64 as the neighbouring float32 whose last bit is 1 where it is not exact: what is rounded again from there is
/// rounded as from the float64.
Expr round_to_odd(const Expr& value) {
  int n = value.type().lanes();
  return let(ir::Cast::make(Halide::Float(32, n), value), [&](const Expr& nearest) {
    Expr bits = bits_of(nearest, UInt(32, n)), one = unsigned32(1, n);
    Expr back = ir::Cast::make(Halide::Float(64, n), nearest);
    auto magnitude = [&](const Expr& x) {
      return bits_of(x, UInt(64, n)) & ir::make_const(UInt(64, n), ~(std::uint64_t{1} << 63));
    };
    Expr other = ir::Select::make(magnitude(back) < magnitude(value), bits + one, bits - one);
    Expr keep = ir::Or::make(ir::EQ::make(magnitude(back), magnitude(value)), ir::EQ::make(bits & one, one));
    Expr special = ir::GE::make(bits & unsigned32(0x7fffffff, n), unsigned32(0x7f800000, n));
    return bits_of(ir::Select::make(ir::Or::make(keep, special), bits, other), Halide::Float(32, n));
  });
}

}  // namespace

Expr round_to_half(const Expr& value, DType type) {
  return decode(encode(value.type().bits() == 64 ? round_to_odd(value) : value, type), type);
}

Expr decode(const Expr& bits, DType type) {
  int n = bits.type().lanes();
  if (type == DType::Bool) return ir::Not::make(ir::EQ::make(bits, ir::make_zero(bits.type())));
  if (type == DType::Float16)
    return ir::Call::make(Halide::Float(32, n), "tc_from_half_f32", {bits}, ir::Call::PureExtern);
  if (type == DType::BFloat16) return ir::Call::make(Halide::Float(32, n), from_bfloat, {bits}, ir::Call::PureExtern);
  return bits;
}

Expr encode(const Expr& value, DType type) {
  int n = value.type().lanes();
  if (type == DType::Bool) return ir::Select::make(value, ir::make_one(UInt(8, n)), ir::make_zero(UInt(8, n)));
  if (type == DType::Float16)
    return ir::Cast::make(UInt(16, n),
                          ir::Call::make(Halide::Int(32, n), "tc_to_half_i32", {value}, ir::Call::PureExtern));
  if (type == DType::BFloat16) return ir::Call::make(UInt(16, n), to_bfloat, {value}, ir::Call::PureExtern);
  return value;
}

std::optional<Expr> expand_bfloat(const std::string& function, const std::vector<Expr>& args) {
  if (function == to_bfloat) return encode_bfloat(args[0]);
  if (function != from_bfloat) return std::nullopt;
  int n = args[0].type().lanes();
  return bits_of(ir::Cast::make(UInt(32, n), args[0]) << unsigned32(16, n), Halide::Float(32, n));
}

}  // namespace tc::halide_bridge
