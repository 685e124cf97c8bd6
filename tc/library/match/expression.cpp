#include "tc/library/match/expression.h"

#include <cmath>
#include <limits>

#include "tc/base/str.h"
#include "tc/lang/syntax/operators.h"

namespace tc::library {
namespace {

using lang::BinaryOp;
using lang::ExprPtr;

/// May values of \p from be used as \p to without a change? They then are the same numbers.
Affine one() {
  Affine result;
  result.constant = 1;
  return result;
}

/// The conditions for \p expr to hold, added to \p conditions. Throws NotUnderstood.
void add_conditions(const ExprPtr& expr, const Names& names, Conditions& conditions) {
  if (const auto* cast = std::get_if<lang::Cast>(&expr->node)) return add_conditions(cast->value, names, conditions);
  const auto* binary = std::get_if<lang::Binary>(&expr->node);
  if (!binary) throw NotUnderstood();
  if (binary->op == BinaryOp::And) {
    add_conditions(binary->left, names, conditions);
    return add_conditions(binary->right, names, conditions);
  }
  const auto left = affine_of(binary->left, names), right = affine_of(binary->right, names);
  switch (binary->op) {
    case BinaryOp::Lt:
      return conditions.push_back(right - left - one());
    case BinaryOp::Le:
      return conditions.push_back(right - left);
    case BinaryOp::Gt:
      return conditions.push_back(left - right - one());
    case BinaryOp::Ge:
      return conditions.push_back(left - right);
    case BinaryOp::Eq:
      conditions.push_back(left - right);
      return conditions.push_back(right - left);
    default:
      throw NotUnderstood();
  }
}

NodePtr select_node(const ExprPtr& condition, const ExprPtr& then_value, const ExprPtr& else_value,
                    const Names& names) {
  auto yes = node_of(then_value, names), no = node_of(else_value, names);
  try {
    Conditions conditions;
    add_conditions(condition, names, conditions);
    if (const auto* inner = std::get_if<Guarded>(&yes->value))
      if (const auto* value = std::get_if<Constant>(&inner->otherwise->value); value && is_constant(no, value->value)) {
        conditions.insert(conditions.end(), inner->conditions.begin(), inner->conditions.end());
        yes = inner->value;
      }
    return make_node(Guarded{std::move(conditions), std::move(yes), std::move(no)});
  } catch (const NotUnderstood&) {
    return make_node(Apply{"?", {node_of(condition, names), std::move(yes), std::move(no)}});
  }
}

/// A product: where a factor is 0 under a guard, the product is, unless the other one is infinite or NaN.
NodePtr product(NodePtr a, NodePtr b, bool finite) {
  if (!finite) return make_node(Apply{"*", {std::move(a), std::move(b)}});
  Conditions conditions;
  for (auto* factor : {&a, &b})
    if (const auto* guarded = std::get_if<Guarded>(&(*factor)->value); guarded && is_constant(guarded->otherwise, 0)) {
      conditions.insert(conditions.end(), guarded->conditions.begin(), guarded->conditions.end());
      *factor = NodePtr(guarded->value);
    }
  auto result = make_node(Apply{"*", {std::move(a), std::move(b)}});
  if (conditions.empty()) return result;
  return make_node(Guarded{std::move(conditions), std::move(result), make_node(Constant{0})});
}

/// \p value where that is more than the largest number of float32: infinite there.
double as_float32(double value) {
  const bool is_finite = std::abs(value) <= std::numeric_limits<float>::max();
  return is_finite ? value : std::copysign(std::numeric_limits<double>::infinity(), value);
}

NodePtr cast_node(const lang::Cast& cast, const Names& names) {
  auto value = node_of(cast.value, names);
  if (const auto* constant = std::get_if<Constant>(&value->value))
    return cast.type == DType::Float32 ? make_node(Constant{as_float32(constant->value)}) : value;
  const bool is_read = std::holds_alternative<Read>(value->value);
  if (cast.value->type &&
      (*cast.value->type == cast.type || (is_read && converts_exactly(*cast.value->type, cast.type))))
    return value;
  return make_node(Apply{str("to ", cast.type), {std::move(value)}});
}

NodePtr call_node(const lang::Call& call, const Names& names) {
  std::vector<NodePtr> arguments;
  for (const auto& argument : call.arguments) arguments.push_back(node_of(argument, names));
  if (call.function == "select") return make_node(Apply{"?", std::move(arguments)});
  if (call.function == "relu") return make_node(Apply{"max", {arguments.at(0), make_node(Constant{0})}});
  return make_node(Apply{call.function, std::move(arguments)});
}

NodePtr binary_node(const lang::Binary& binary, const Names& names) {
  auto left = node_of(binary.left, names), right = node_of(binary.right, names);
  if (binary.op == BinaryOp::Mul) return product(std::move(left), std::move(right), names.finite);
  return make_node(Apply{lang::symbol(binary.op), {std::move(left), std::move(right)}});
}

}  // namespace

bool converts_exactly(DType from, DType to) {
  if (from == to) return true;
  if (is_half(from)) return to == DType::Float32;
  return is_integer(from) && is_integer(to) && byte_size(from) < byte_size(to) &&
         (is_unsigned_integer(from) || is_signed_integer(to));
}

NodePtr make_node(decltype(Node::value) value) { return std::make_shared<const Node>(Node{std::move(value)}); }

bool is_constant(const NodePtr& node, double value) {
  const auto* constant = std::get_if<Constant>(&node->value);
  return constant && constant->value == value && std::signbit(constant->value) == std::signbit(value);
}

std::optional<double> neutral(ReductionOp op) {
  switch (op) {
    case ReductionOp::Sum:
      return 0;
    case ReductionOp::Product:
      return 1;
    case ReductionOp::Max:
      return -std::numeric_limits<double>::infinity();
    case ReductionOp::Min:
      return std::numeric_limits<double>::infinity();
    default:
      return std::nullopt;
  }
}

NodePtr make_reduce(ReductionOp op, std::vector<int> iterators, NodePtr body) {
  Reduce reduce{op, std::move(iterators), {}, std::move(body)};
  if (const auto* guarded = std::get_if<Guarded>(&reduce.body->value))
    if (const auto value = neutral(op); value && is_constant(guarded->otherwise, *value)) {
      reduce.conditions = guarded->conditions;
      reduce.body = NodePtr(guarded->value);
    }
  return make_node(std::move(reduce));
}

Affine affine_of(const ExprPtr& expr, const Names& names) {
  if (const auto* literal = std::get_if<lang::IntLiteral>(&expr->node))
    return one() * static_cast<std::int64_t>(literal->value);
  if (const auto* cast = std::get_if<lang::Cast>(&expr->node)) return affine_of(cast->value, names);
  if (const auto* size = std::get_if<lang::SizeOf>(&expr->node)) return names.size_of(*size);
  if (const auto* name = std::get_if<lang::Name>(&expr->node)) {
    const auto found = names.values.find(name->id);
    if (found == names.values.end()) throw NotUnderstood();
    return found->second;
  }
  if (const auto* unary = std::get_if<lang::Unary>(&expr->node); unary && unary->op == lang::UnaryOp::Negate)
    return affine_of(unary->value, names) * -1;
  const auto* binary = std::get_if<lang::Binary>(&expr->node);
  if (!binary) throw NotUnderstood();
  const auto left = affine_of(binary->left, names), right = affine_of(binary->right, names);
  if (binary->op == BinaryOp::Add) return left + right;
  if (binary->op == BinaryOp::Sub) return left - right;
  Affine result;
  if (binary->op == BinaryOp::Mul && multiply(left, right, result)) return result;
  throw NotUnderstood();
}

NodePtr node_of(const ExprPtr& expr, const Names& names) {
  return std::visit(
      overloaded{
          [&](const lang::IntLiteral& x) { return make_node(Constant{static_cast<double>(x.value)}); },
          [&](const lang::FloatLiteral& x) {
            return make_node(Constant{expr->type == DType::Float64 ? x.value : as_float32(x.value)});
          },
          [&](const lang::Access& x) {
            std::vector<Affine> subscripts;
            for (const auto& subscript : x.subscripts) subscripts.push_back(affine_of(subscript, names));
            return names.read(x, std::move(subscripts));
          },
          [&](const lang::Call& x) { return call_node(x, names); },
          [&](const lang::Cast& x) { return cast_node(x, names); },
          [&](const lang::Unary& x) {
            if (x.op != lang::UnaryOp::Negate) throw NotUnderstood();
            auto value = node_of(x.value, names);
            if (const auto* constant = std::get_if<Constant>(&value->value))
              return make_node(Constant{-constant->value});
            return make_node(Apply{"negate", {std::move(value)}});
          },
          [&](const lang::Binary& x) { return binary_node(x, names); },
          [&](const lang::Select& x) { return select_node(x.condition, x.then_value, x.else_value, names); },
          [](const auto&) -> NodePtr { throw NotUnderstood(); },
      },
      expr->node);
}

}  // namespace tc::library
