#include "tc/halide_bridge/infer/convert_expr.h"

#include <algorithm>
#include <limits>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/operators.h"

namespace tc::halide_bridge {

using Halide::Expr;
using Halide::Int;
namespace ir = Halide::Internal;

namespace {

Expr variable(const std::string& name) { return ir::Variable::make(Int(64), name); }

/// The values of an integer type; unbounded where int64 cannot hold them.
IndexBounds type_bounds(DType type) {
  if (is_signed_integer(type) && bit_size(type) < 64) {
    const std::int64_t half = std::int64_t{1} << (bit_size(type) - 1);
    return {constant(-half), constant(half - 1)};
  }
  if (type == DType::UInt64) return {constant(0), Expr()};
  if (is_unsigned_integer(type)) return {constant(0), constant((std::int64_t{1} << bit_size(type)) - 1)};
  return {};
}

bool reads_data(const lang::ExprPtr& expr) {
  bool found = false;
  lang::for_each_expr(expr,
                      [&](const lang::ExprPtr& e) { found = found || std::holds_alternative<lang::Access>(e->node); });
  return found;
}

/// Has the value of \p expr a whole-number type? Untyped expressions are taken for int64.
bool is_integral(const lang::ExprPtr& expr) { return !expr->type || is_integer(*expr->type); }

bool is_bool(const lang::ExprPtr& expr) {
  if (expr->type) return *expr->type == DType::Bool;
  if (auto* binary = std::get_if<lang::Binary>(&expr->node)) return gives_truth(binary->op);
  return std::holds_alternative<lang::BoolLiteral>(expr->node);
}

/// Does every value of \p from exist in \p to?
bool widens(DType from, DType to) {
  if (!is_integer(from) || !is_integer(to)) return false;
  if (is_unsigned_integer(from) == is_unsigned_integer(to)) return bit_size(to) >= bit_size(from);
  return is_unsigned_integer(from) && bit_size(to) > bit_size(from);
}

std::int64_t constant_or(const Expr& expr, std::int64_t fallback) {
  const std::int64_t* value = expr.defined() ? ir::as_const_int(expr) : nullptr;
  return value ? *value : fallback;
}

}  // namespace

Expr constant(std::int64_t value) { return ir::IntImm::make(Int(64), value); }

Expr IndexConverter::make_opaque(const lang::ExprPtr& expr) {
  const bool boolean = is_bool(expr);
  auto known =
      std::find_if(opaque_.begin(), opaque_.end(), [&](const OpaqueValue& o) { return lang::equal(o.source, expr); });
  if (known == opaque_.end()) {
    const IndexBounds bounds = boolean || !expr->type ? IndexBounds{} : type_bounds(*expr->type);
    opaque_.push_back({str("#", opaque_.size()), expr, bounds});
    known = opaque_.end() - 1;
  }
  return boolean ? ir::Variable::make(Halide::Bool(), known->name) : variable(known->name);
}

/// \p value, unless the arithmetic of \p expr may wrap around in a narrow type that data fill.
Expr IndexConverter::exact_or_opaque(const lang::ExprPtr& expr, Expr value) {
  if (variables(value).empty()) return ir::simplify(value);
  if (!expr->type || *expr->type == DType::Int64 || !reads_data(expr)) return value;
  Halide::Internal::Scope<ir::Interval> scope;
  for (const OpaqueValue& o : opaque_)
    if (o.bounds.min.defined() && o.bounds.max.defined()) scope.push(o.name, ir::Interval(o.bounds.min, o.bounds.max));
  const ir::Interval found = ir::find_constant_bounds(value, scope);
  const IndexBounds allowed = type_bounds(*expr->type);
  if (!allowed.min.defined() || !allowed.max.defined() || !found.is_bounded()) return make_opaque(expr);
  const std::int64_t low = constant_or(found.min, std::numeric_limits<std::int64_t>::min());
  const std::int64_t high = constant_or(found.max, std::numeric_limits<std::int64_t>::max());
  const bool fits = constant_or(allowed.min, 0) <= low && high <= constant_or(allowed.max, 0);
  return fits ? value : make_opaque(expr);
}

Expr IndexConverter::convert_call(const lang::ExprPtr& expr, const lang::Call& call) {
  if (!is_integral(expr)) return make_opaque(expr);
  std::vector<Expr> args;
  for (const auto& argument : call.arguments) args.push_back((*this)(argument));
  if (call.function == "min") return Halide::min(args[0], args[1]);
  if (call.function == "max") return Halide::max(args[0], args[1]);
  if (call.function == "relu") return Halide::max(args[0], constant(0));
  if (call.function == "clamp") return Halide::min(Halide::max(args[0], args[1]), args[2]);
  if (call.function == "abs") return exact_or_opaque(expr, Halide::max(args[0], 0 - args[0]));
  if (call.function == "select") return Halide::select(args[0], args[1], args[2]);
  return make_opaque(expr);
}

Expr IndexConverter::convert_cast(const lang::ExprPtr& expr, const lang::Cast& cast) {
  if (is_bool(cast.value) && is_integer(cast.type))
    return Halide::select((*this)(cast.value), constant(1), constant(0));
  if (is_bool(cast.value) && cast.type == DType::Bool) return (*this)(cast.value);
  if (!is_integral(cast.value) || !is_integer(cast.type)) return make_opaque(expr);
  const bool literal = std::holds_alternative<lang::IntLiteral>(cast.value->node);
  if (literal || widens(cast.value->type.value_or(DType::Int64), cast.type)) return (*this)(cast.value);
  return make_opaque(expr);
}

Expr IndexConverter::convert_binary(const lang::ExprPtr& expr, const lang::Binary& binary) {
  using Op = lang::BinaryOp;
  const bool logical = binary.op == Op::And || binary.op == Op::Or;
  if (logical) {
    const Expr left = (*this)(binary.left), right = (*this)(binary.right);
    return binary.op == Op::And ? left && right : left || right;
  }
  if (is_bool(binary.left) || !is_integral(binary.left) || !is_integral(binary.right) || lang::is_bitwise(binary.op))
    return make_opaque(expr);
  const Expr a = (*this)(binary.left), b = (*this)(binary.right);
  const bool negative = constant_or(ir::simplify(b), 0) < 0;
  switch (binary.op) {
    case Op::Add:
      return exact_or_opaque(expr, a + b);
    case Op::Sub:
      return exact_or_opaque(expr, a - b);
    case Op::Mul:
      return exact_or_opaque(expr, a * b);
    case Op::Div:
      return exact_or_opaque(expr, negative ? ir::Div::make(0 - a, ir::simplify(0 - b)) : ir::Div::make(a, b));
    case Op::Mod:
      return exact_or_opaque(expr, negative ? 0 - ir::Mod::make(0 - a, ir::simplify(0 - b)) : ir::Mod::make(a, b));
    case Op::Lt:
      return a < b;
    case Op::Le:
      return a <= b;
    case Op::Gt:
      return a > b;
    case Op::Ge:
      return a >= b;
    case Op::Eq:
      return a == b;
    case Op::Ne:
      return a != b;
    default:
      throw InternalError("IndexConverter: not an operator of index expressions");
  }
}

Expr IndexConverter::operator()(const lang::ExprPtr& expr) {
  return std::visit(
      overloaded{
          [&](const lang::IntLiteral& n) {
            const bool fits = n.value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
            return fits && is_integral(expr) ? constant(static_cast<std::int64_t>(n.value)) : make_opaque(expr);
          },
          [&](const lang::FloatLiteral&) { return make_opaque(expr); },
          [&](const lang::BoolLiteral& b) { return b.value ? ir::const_true() : ir::const_false(); },
          [&](const lang::Name& name) { return variable(name.id); },
          [&](const lang::Access&) { return make_opaque(expr); },
          [&](const lang::SizeOf& size) { return size_of_(size); },
          [&](const lang::Call& call) { return convert_call(expr, call); },
          [&](const lang::Cast& cast) { return convert_cast(expr, cast); },
          [&](const lang::Unary& unary) {
            if (unary.op == lang::UnaryOp::Not) return !(*this)(unary.value);
            return is_integral(expr) ? exact_or_opaque(expr, 0 - (*this)(unary.value)) : make_opaque(expr);
          },
          [&](const lang::Binary& binary) { return convert_binary(expr, binary); },
          [&](const lang::Select& select) {
            if (!is_integral(expr)) return make_opaque(expr);
            return Halide::select((*this)(select.condition), (*this)(select.then_value), (*this)(select.else_value));
          },
      },
      expr->node);
}

std::vector<std::string> variables(const Expr& expr) {
  struct Collect : ir::IRVisitor {
    using ir::IRVisitor::visit;
    void visit(const ir::Variable* op) override {
      if (std::find(names.begin(), names.end(), op->name) == names.end()) names.push_back(op->name);
    }
    std::vector<std::string> names;
  } collect;
  expr.accept(&collect);
  return collect.names;
}

}  // namespace tc::halide_bridge
