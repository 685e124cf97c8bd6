#include "tc/halide_bridge/math/float_ops.h"

#include <limits>

#include "tc/base/error.h"
#include "tc/halide_bridge/lower/program.h"
#include "tc/halide_bridge/stmt/value_name.h"

namespace tc::halide_bridge {
namespace {

using Halide::Expr;
using Halide::Type;
namespace ir = Halide::Internal;

bool cheap(const Expr& e) {
  return e.as<ir::Variable>() || e.as<ir::FloatImm>() || e.as<ir::IntImm>() || e.as<ir::UIntImm>() ||
         (e.as<ir::Broadcast>() && cheap(e.as<ir::Broadcast>()->value));
}

/// The larger or smaller of two numbers; a NaN in either is the result. Whether \p b is one is asked for beside the comparison, which
/// gives \p a where that is no number: an accumulator waits for one instruction, not for a mask made of it.
template <typename Before>
Expr extreme(const Expr& a, const Expr& b) {
  if (a.type().is_bool()) return Expr();
  return let(a, [&](const Expr& x) {
    return let(b, [&](const Expr& y) {
      return ir::Select::make(is_number(y), ir::Select::make(Before::make(y, x), y, x), y);
    });
  });
}

/// The call of the built-in min or max.
Expr nan_keeping(const std::string& name, const Expr& a, const Expr& b) {
  return ir::Call::make(a.type(), "tc_" + name + "_f" + std::to_string(a.type().bits()), {a, b}, ir::Call::PureExtern);
}

/// As C's fmin and fmax: a NaN is ignored unless both are.
template <typename Before>
Expr extreme_number(const Expr& a, const Expr& b) {
  return let(a, [&](const Expr& x) {
    return let(b, [&](const Expr& y) {
      return ir::Select::make(is_number(y),
                              ir::Select::make(is_number(x), ir::Select::make(Before::make(x, y), x, y), y), x);
    });
  });
}

/// A wrapping Add or Mul.
template <typename Node>
Expr wrapping(const Expr& a, const Expr& b) {
  Type type = a.type();
  if (!type.is_int() || type.bits() < 32) return Node::make(a, b);
  Type bits = type.with_code(halide_type_uint);
  return ir::Cast::make(type, Node::make(ir::Cast::make(bits, a), ir::Cast::make(bits, b)));
}

Expr magnitude_bits(const Expr& x) {
  Type bits = x.type().with_code(halide_type_uint);
  Expr raw = ir::Call::make(bits, ir::Call::reinterpret, {x}, ir::Call::PureIntrinsic);
  std::uint64_t all = bits.bits() == 64 ? 0x7fffffffffffffffull : 0x7fffffffull;
  return raw & ir::make_const(bits, all);
}

Expr is_infinite(const Expr& x) {
  Type bits = x.type().with_code(halide_type_uint);
  std::uint64_t infinity = bits.bits() == 64 ? 0x7ff0000000000000ull : 0x7f800000ull;
  return ir::EQ::make(magnitude_bits(x), ir::make_const(bits, infinity));
}

}  // namespace

Expr let(const Expr& value, const std::function<Expr(const Expr&)>& body) {
  if (cheap(value)) return body(value);
  auto name = value_name("x");
  return ir::Let::make(name, value, body(ir::Variable::make(value.type(), name)));
}

Expr is_number(const Expr& value) { return ir::EQ::make(value, value); }

Expr combine(ReductionOp op, const Expr& a, const Expr& b) {
  bool is_float = a.type().is_float(), is_bool = a.type().is_bool();
  switch (op) {
    case ReductionOp::Sum:
      return is_bool ? ir::Or::make(a, b) : wrapping<ir::Add>(a, b);
    case ReductionOp::Product:
      return is_bool ? ir::And::make(a, b) : wrapping<ir::Mul>(a, b);
    case ReductionOp::Min:
      return is_bool ? ir::And::make(a, b) : is_float ? nan_keeping("min", a, b) : ir::Min::make(a, b);
    case ReductionOp::Max:
      return is_bool ? ir::Or::make(a, b) : is_float ? nan_keeping("max", a, b) : ir::Max::make(a, b);
    case ReductionOp::And:
      return ir::And::make(a, b);
    case ReductionOp::Or:
      return ir::Or::make(a, b);
  }
  throw InternalError("an unknown reduction");
}

Expr identity(ReductionOp op, DType type) {
  Type t = halide_type(type);
  double infinity = std::numeric_limits<double>::infinity();
  switch (op) {
    case ReductionOp::Sum:
      return ir::make_zero(t);
    case ReductionOp::Product:
      return ir::make_one(t);
    case ReductionOp::Min:
      return t.is_bool() ? ir::const_true() : t.is_float() ? ir::make_const(t, infinity) : t.max();
    case ReductionOp::Max:
      return t.is_bool() ? ir::const_false() : t.is_float() ? ir::make_const(t, -infinity) : t.min();
    case ReductionOp::And:
      return ir::const_true();
    case ReductionOp::Or:
      return ir::const_false();
  }
  throw InternalError("an unknown reduction");
}

Expr combine_lanes(ReductionOp op, const Expr& value) {
  int n = value.type().lanes();
  if (n == 1) return value;
  if (n % 2) {
    Expr rest = combine_lanes(op, ir::Shuffle::make_slice(value, 0, 1, n - 1));
    return combine(op, rest, ir::Shuffle::make_extract_element(value, n - 1));
  }
  return let(value, [&](const Expr& v) {
    return combine_lanes(
        op, combine(op, ir::Shuffle::make_slice(v, 0, 1, n / 2), ir::Shuffle::make_slice(v, n / 2, 1, n / 2)));
  });
}

std::optional<Expr> expand_builtin(const std::string& function, const std::vector<Expr>& args) {
  if (function.rfind("tc_", 0) != 0) return std::nullopt;
  auto name = function.substr(3, function.rfind('_') - 3);
  if (name == "min" && args.size() == 2) return extreme<ir::LT>(args[0], args[1]);
  if (name == "max" && args.size() == 2) return extreme<ir::GT>(args[0], args[1]);
  if (name == "fmin") return extreme_number<ir::LT>(args[0], args[1]);
  if (name == "fmax") return extreme_number<ir::GT>(args[0], args[1]);
  if (name == "isnan") return ir::Not::make(is_number(args[0]));
  if (name == "isinf") return is_infinite(args[0]);
  return std::nullopt;
}

Expr without_sign(const Expr& x) {
  return ir::Call::make(x.type(), ir::Call::reinterpret, {magnitude_bits(x)}, ir::Call::PureIntrinsic);
}

}  // namespace tc::halide_bridge
