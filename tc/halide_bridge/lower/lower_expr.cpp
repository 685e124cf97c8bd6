#include "tc/halide_bridge/lower/lower_expr.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/halide_bridge/lower/builtin_calls.h"
#include "tc/halide_bridge/lower/conditional.h"
#include "tc/lang/syntax/operators.h"
#include "tc/lang/syntax/print.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using Halide::Type;
using lang::BinaryOp;
using lang::ExprPtr;

Integer integer(const LoweredExpr& value) { return {value.expr, value.bounds}; }

/// A float or bool value made of \p parts.
LoweredExpr plain(Expr expr, std::initializer_list<LoweredExpr> parts) {
  const bool total = std::all_of(parts.begin(), parts.end(), [](const LoweredExpr& part) { return part.total; });
  return {std::move(expr), {}, total};
}

/// An integer value made of \p parts.
LoweredExpr whole(const Integer& value, std::initializer_list<LoweredExpr> parts) {
  LoweredExpr result = plain(value.expr, parts);
  result.bounds = value.bounds;
  return result;
}

Type half_storage(DType type) { return type == DType::BFloat16 ? Halide::BFloat(16) : Halide::Float(16); }

/// A float as one of the half types in its compute type. Rounds once: also from float64, which is rounded at stores
/// only.
Expr to_half(const Expr& value, DType type, bool implicit) {
  const bool rounds = !implicit || value.type().bits() > 32;
  return rounds ? ir::Cast::make(Halide::Float(32), ir::Cast::make(half_storage(type), value)) : value;
}

/// An integer as a float of \p type.
Expr integer_to_float(const Expr& value, DType type, bool implicit) {
  const Type compute = halide_type(type);
  if (!is_half(type) || implicit) {
    const auto* literal = value.as<ir::IntImm>();
    const std::int64_t limit = std::int64_t{1} << 53;
    const bool exact = literal && -limit <= literal->value && literal->value <= limit;
    return exact ? ir::make_const(compute, static_cast<double>(literal->value)) : ir::Cast::make(compute, value);
  }
  const bool exact = value.type().bits() <= 16;
  return to_half(ir::Cast::make(exact ? Halide::Float(32) : Halide::Float(64), value), type, false);
}

/// \p value of type \p from converted to \p to. An implicit conversion to a half type does not round.
LoweredExpr convert_value(const LoweredExpr& value, DType from, DType to, bool implicit) {
  const Type type = halide_type(to);
  if (from == to && !is_half(to)) return value;
  if (to == DType::Bool) return plain(ir::NE::make(value.expr, ir::make_zero(value.expr.type())), {value});
  if (from == DType::Bool) {
    const Expr cast = ir::Cast::make(type, value.expr);
    return is_integer(to) ? whole({cast, {0, 1}}, {value}) : plain(cast, {value});
  }
  if (is_integer(from) && is_integer(to)) return whole(convert(integer(value), type), {value});
  if (is_integer(from)) return plain(integer_to_float(value.expr, to, implicit), {value});
  if (is_integer(to)) return whole({truncate_float(value.expr, type), bounds_of(type)}, {value});
  if (is_half(to)) return plain(to_half(value.expr, to, implicit), {value});
  return value.expr.type() == type ? value : plain(ir::Cast::make(type, value.expr), {value});
}

Expr float_arithmetic(BinaryOp op, const Expr& a, const Expr& b) {
  switch (op) {
    case BinaryOp::Add:
      return ir::Add::make(a, b);
    case BinaryOp::Sub:
      return ir::Sub::make(a, b);
    case BinaryOp::Mul:
      return ir::Mul::make(a, b);
    case BinaryOp::Div:
      return ir::Div::make(a, b);
    case BinaryOp::Mod:
      return float_call("fmod", {a, b});
    default:
      throw InternalError("lower: no arithmetic operator of floats");
  }
}

Integer integer_arithmetic(BinaryOp op, const Integer& a, const Integer& b) {
  switch (op) {
    case BinaryOp::Add:
      return add(a, b);
    case BinaryOp::Sub:
      return subtract(a, b);
    case BinaryOp::Mul:
      return multiply(a, b);
    case BinaryOp::Div:
      return floor_div(a, b);
    case BinaryOp::Mod:
      return floor_mod(a, b);
    case BinaryOp::BitAnd:
      return bit_and(a, b);
    case BinaryOp::BitOr:
      return bit_or(a, b);
    case BinaryOp::BitXor:
      return bit_xor(a, b);
    case BinaryOp::ShiftLeft:
      return shift_left(a, b);
    case BinaryOp::ShiftRight:
      return shift_right(a, b);
    default:
      throw InternalError("lower: no arithmetic operator of integers");
  }
}

Expr comparison(BinaryOp op, const Expr& a, const Expr& b) {
  switch (op) {
    case BinaryOp::Lt:
      return ir::LT::make(a, b);
    case BinaryOp::Le:
      return ir::LE::make(a, b);
    case BinaryOp::Gt:
      return ir::GT::make(a, b);
    case BinaryOp::Ge:
      return ir::GE::make(a, b);
    case BinaryOp::Eq:
      return ir::EQ::make(a, b);
    case BinaryOp::Ne:
      return ir::NE::make(a, b);
    default:
      throw InternalError("lower: no comparison");
  }
}

bool is_arithmetic(BinaryOp op) { return op <= BinaryOp::Mod || lang::is_bitwise(op); }

class ExprLowering {
 public:
  explicit ExprLowering(const ExprScope& scope) : scope_(scope) {}

  LoweredExpr operator()(const ExprPtr& expr) const {
    if (!expr->type) throw InternalError(str("'", lang::print(expr), "' has no type: the tree is not checked"));
    return std::visit([&](const auto& node) { return lower(node, expr); }, expr->node);
  }

 private:
  LoweredExpr lower(const lang::IntLiteral& node, const ExprPtr& expr) const {
    const Type type = halide_type(*expr->type);
    if (type.is_float()) return {ir::make_const(type, static_cast<double>(node.value))};
    return whole(constant(type, node.value), {});
  }
  LoweredExpr lower(const lang::FloatLiteral& node, const ExprPtr& expr) const {
    return {ir::make_const(halide_type(*expr->type), node.value)};
  }
  LoweredExpr lower(const lang::BoolLiteral& node, const ExprPtr&) const { return {ir::make_bool(node.value)}; }

  LoweredExpr lower(const lang::Name& node, const ExprPtr&) const {
    if (const auto found = scope_.iterators.find(node.id); found != scope_.iterators.end()) {
      const lang::IntegerRange& interval = found->second;
      const __int128 last = static_cast<__int128>(interval.min) + interval.extent - 1;
      return whole({ir::Variable::make(Halide::Int(64), node.id), {interval.min, last}}, {});
    }
    if (const auto found = scope_.symbolic.find(node.id); found != scope_.symbolic.end()) {
      return whole(
          {ir::Variable::make(Halide::Int(64), size_variable(node.id)), {found->second.min, found->second.max}}, {});
    }
    if (const auto found = scope_.sizes.find(node.id); found != scope_.sizes.end()) {
      return whole(constant(Halide::Int(64), found->second), {});
    }
    throw InternalError(str("lower: '", node.id, "' is neither an iterator nor a size"));
  }

  LoweredExpr lower(const lang::SizeOf& node, const ExprPtr&) const {
    const auto dimension = static_cast<std::size_t>(node.dimension);
    const auto& interval = tensor(node.tensor).box.at(dimension);
    if (tensor(node.tensor).is_symbolic(dimension))
      return whole({tensor(node.tensor).extents[dimension], {0, interval.extent}}, {});
    return whole(constant(Halide::Int(64), interval.extent), {});
  }

  LoweredExpr lower(const lang::Access& node, const ExprPtr& expr) const {
    const ProgramTensor& read = tensor(node.tensor);
    if (node.subscripts.size() != read.box.size()) {
      throw InternalError(str("lower: '", lang::print(expr), "' has a wrong number of subscripts"));
    }
    const Type type = halide_type(read.type);
    LoweredExpr result;
    std::vector<Expr> subscripts;
    for (std::size_t d = 0; d < node.subscripts.size(); ++d) {
      const LoweredExpr index = lower_index(node.subscripts[d], scope_);
      subscripts.push_back(index.expr);
      result.total = result.total && index.total && stays_inside(index, read, d, scope_);
    }
    result.expr = element_read(type, node.tensor, subscripts);
    if (is_integer(read.type)) result.bounds = bounds_of(type);
    return result;
  }

  LoweredExpr lower(const lang::Cast& node, const ExprPtr&) const {
    return convert_value((*this)(node.value), *node.value->type, node.type, node.implicit);
  }

  LoweredExpr lower(const lang::Unary& node, const ExprPtr&) const {
    const LoweredExpr value = (*this)(node.value);
    if (node.op == lang::UnaryOp::Not) return plain(negation(value.expr), {value});
    const Type type = value.expr.type();
    if (type.is_float()) return plain(ir::Mul::make(value.expr, ir::make_const(type, -1)), {value});
    return whole(negate(integer(value)), {value});
  }

  LoweredExpr lower(const lang::Binary& node, const ExprPtr& expr) const {
    const LoweredExpr left = (*this)(node.left), right = (*this)(node.right);
    if (left.expr.type() != right.expr.type()) {
      throw InternalError(str("lower: '", lang::print(expr), "' has operands of two types"));
    }
    if (node.op == BinaryOp::And) return lazy_and(left, right);
    if (node.op == BinaryOp::Or) return lazy_or(left, right);
    if (!is_arithmetic(node.op)) return plain(comparison(node.op, left.expr, right.expr), {left, right});
    if (left.expr.type().is_float()) return plain(float_arithmetic(node.op, left.expr, right.expr), {left, right});
    return whole(integer_arithmetic(node.op, integer(left), integer(right)), {left, right});
  }

  LoweredExpr lower(const lang::Select& node, const ExprPtr&) const {
    return choose(node.condition, node.then_value, node.else_value);
  }

  LoweredExpr lower(const lang::Call& node, const ExprPtr& expr) const {
    if (node.function == "select") return choose(node.arguments.at(0), node.arguments.at(1), node.arguments.at(2));
    std::vector<LoweredExpr> arguments;
    LoweredExpr result;
    for (const auto& argument : node.arguments) {
      arguments.push_back((*this)(argument));
      result.total = result.total && arguments.back().total;
    }
    if (arguments.empty()) throw InternalError(str("lower: '", lang::print(expr), "' has no arguments"));
    if (arguments[0].expr.type().is_float()) {
      std::vector<Expr> values;
      for (const auto& argument : arguments) values.push_back(argument.expr);
      result.expr = float_call(node.function, values);
    } else {
      const Integer value = integer_call(node.function, arguments);
      result.expr = value.expr;
      result.bounds = value.bounds;
    }
    return result;
  }

  static Integer integer_call(const std::string& function, const std::vector<LoweredExpr>& arguments) {
    const Integer x = integer(arguments[0]);
    if (function == "min") return minimum(x, integer(arguments.at(1)));
    if (function == "max") return maximum(x, integer(arguments.at(1)));
    if (function == "clamp") return minimum(maximum(x, integer(arguments.at(1))), integer(arguments.at(2)));
    if (function == "abs") return absolute(x);
    if (function == "relu") return maximum(x, constant(x.expr.type(), 0));
    if (function == "popcount") {
      const Type type = x.expr.type();
      return {ir::Call::make(type, ir::Call::popcount, {x.expr}, ir::Call::PureIntrinsic), {0, type.bits()}};
    }
    throw InternalError(str("lower: no function '", function, "' of integers"));
  }

  /// The arms in the scope; only what is needed is evaluated where an arm is not total.
  LoweredExpr choose(const ExprPtr& condition, const ExprPtr& then_value, const ExprPtr& else_value) const {
    const LoweredExpr c = (*this)(condition), a = (*this)(then_value), b = (*this)(else_value);
    const Expr value = guarded_select(c.expr, a, b);
    return value.type().is_float() || value.type().is_bool() ? plain(value, {c, a, b})
                                                             : whole({value, hull(a.bounds, b.bounds)}, {c, a, b});
  }

  static LoweredExpr lazy_and(const LoweredExpr& left, const LoweredExpr& right) {
    return plain(
        right.total ? ir::And::make(left.expr, right.expr) : if_then_else(left.expr, right.expr, ir::make_bool(false)),
        {left, right});
  }
  static LoweredExpr lazy_or(const LoweredExpr& left, const LoweredExpr& right) {
    return plain(
        right.total ? ir::Or::make(left.expr, right.expr) : if_then_else(left.expr, ir::make_bool(true), right.expr),
        {left, right});
  }

  const ProgramTensor& tensor(const std::string& name) const {
    const auto found = scope_.tensors.find(name);
    if (found == scope_.tensors.end()) throw InternalError(str("lower: no tensor '", name, "'"));
    return found->second;
  }

  const ExprScope& scope_;
};

}  // namespace

LoweredExpr lower_expr(const ExprPtr& expr, const ExprScope& scope) { return ExprLowering(scope)(expr); }

LoweredExpr lower_index(const ExprPtr& expr, const ExprScope& scope) {
  const LoweredExpr index = lower_expr(expr, scope);
  if (!index.expr.type().is_int_or_uint() || index.expr.type().is_bool()) {
    throw InternalError(str("lower: the subscript '", lang::print(expr), "' is no integer"));
  }
  return whole(convert(integer(index), Halide::Int(64)), {index});
}

bool stays_inside(const LoweredExpr& index, const ProgramTensor& tensor, std::size_t dimension,
                  const ExprScope& scope) {
  const lang::IntegerRange& interval = tensor.box.at(dimension);
  if (tensor.is_symbolic(dimension)) {
    const auto* iterator = index.expr.as<ir::Variable>();
    const auto end = iterator ? scope.ends.find(iterator->name) : scope.ends.end();
    return interval.min == 0 && index.bounds.low >= 0 && end != scope.ends.end() &&
           ir::equal(end->second, tensor.extents[dimension]);
  }
  const __int128 last = static_cast<__int128>(interval.min) + interval.extent - 1;
  return Bounds{interval.min, last}.contains(index.bounds);
}

Expr guarded_select(const Expr& condition, const LoweredExpr& then_value, const LoweredExpr& else_value) {
  if (then_value.total && else_value.total) return ir::Select::make(condition, then_value.expr, else_value.expr);
  return if_then_else(condition, then_value.expr, else_value.expr);
}

}  // namespace tc::halide_bridge
