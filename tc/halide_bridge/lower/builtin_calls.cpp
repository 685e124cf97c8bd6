#include "tc/halide_bridge/lower/builtin_calls.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using Halide::Type;

/// The functions that Halide's code generator knows by the name `<name>_f32` and rounds as C does.
constexpr std::array<std::string_view, 4> native_functions = {"sqrt", "floor", "ceil", "trunc"};

Expr own_call(const std::string& function, Type type, const std::vector<Expr>& arguments) {
  const int bits = arguments.at(0).type().bits();
  return ir::Call::make(type, str("tc_", function, "_f", bits), arguments, ir::Call::PureExtern);
}

/// Finds comparisons of floats.
class FloatComparisons : public ir::IRVisitor {
 public:
  bool found = false;

 protected:
  using ir::IRVisitor::visit;
  void visit(const ir::EQ* op) override { compare(op); }
  void visit(const ir::NE* op) override { compare(op); }
  void visit(const ir::LT* op) override { compare(op); }
  void visit(const ir::LE* op) override { compare(op); }
  void visit(const ir::GT* op) override { compare(op); }
  void visit(const ir::GE* op) override { compare(op); }

 private:
  template <typename Node>
  void compare(const Node* op) {
    found = found || op->a.type().is_float();
    ir::IRVisitor::visit(op);
  }
};

}  // namespace

Expr float_call(const std::string& function, const std::vector<Expr>& arguments) {
  if (arguments.empty()) throw InternalError(str("the function '", function, "' has no arguments"));
  const Expr& x = arguments[0];
  const Type type = x.type();
  const auto one = [&] { return ir::make_one(type); };
  if (std::find(native_functions.begin(), native_functions.end(), function) != native_functions.end()) {
    return ir::Call::make(type, str(function, "_f", type.bits()), arguments, ir::Call::PureExtern);
  }
  if (function == "abs" || function == "fabs") {
    return ir::Call::make(type, ir::Call::abs, arguments, ir::Call::PureIntrinsic);
  }
  if (function == "fdivide") return ir::Div::make(x, arguments.at(1));
  if (function == "rsqrt") return ir::Div::make(one(), float_call("sqrt", arguments));
  if (function == "relu") return own_call("max", type, {x, ir::make_zero(type)});
  if (function == "clamp") return own_call("min", type, {own_call("max", type, {x, arguments.at(1)}), arguments.at(2)});
  const bool predicate = function == "isnan" || function == "isinf";
  return own_call(function, predicate ? Halide::Bool() : type, arguments);
}

Expr negation(const Expr& condition) {
  FloatComparisons floats;
  condition.accept(&floats);
  if (!floats.found) return ir::Not::make(condition);
  const Type type = condition.type();
  return ir::Call::make(type, ir::Call::bitwise_xor, {condition, ir::make_bool(true, type.lanes())},
                        ir::Call::PureIntrinsic);
}

Expr truncate_float(const Expr& value, Type type) {
  const std::string name = "x.real";
  const Expr x = ir::Variable::make(value.type(), name);
  const auto real = [&](double number) { return ir::make_const(value.type(), number); };
  const double low = type.is_int() ? -std::ldexp(1.0, type.bits() - 1) : 0;
  const double beyond = std::ldexp(1.0, type.is_int() ? type.bits() - 1 : type.bits());
  const Expr below = ir::Select::make(ir::LE::make(x, real(low)), type.min(), ir::make_zero(type));
  const Expr inside = ir::Select::make(ir::GT::make(x, real(low)), ir::Cast::make(type, x), below);
  return ir::Let::make(name, value, ir::Select::make(ir::GE::make(x, real(beyond)), type.max(), inside));
}

}  // namespace tc::halide_bridge
