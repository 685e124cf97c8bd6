#include "tc/proof/affine.h"

namespace tc::proof {
namespace {

using lang::BinaryOp;
using Value = std::optional<isl::pw_aff>;

/// Literals and factors up to this keep all arithmetic of subscripts inside of 64 bits (ranges have at most 2^31 values).
constexpr std::uint64_t largest_literal = std::uint64_t{1} << 20;

std::optional<isl::val> constant_of(const isl::pw_aff& function) {
  if (!function.isa_aff() || !function.as_aff().is_cst()) return std::nullopt;
  return function.as_aff().constant_val();
}

}  // namespace

AffineReader::AffineReader(isl::set domain, const std::vector<std::string>& iterators, const lang::SizeMap& sizes,
                           const std::map<std::string, lang::Box>& boxes)
    : domain_(domain), universe_(isl::set::universe(domain.space())), sizes_(sizes), boxes_(boxes) {
  for (std::size_t i = 0; i < iterators.size(); ++i) iterators_[iterators[i]] = static_cast<int>(i);
}

isl::pw_aff AffineReader::constant(const isl::val& value) const { return universe_.pw_aff_on_domain(value); }

Value AffineReader::value(const lang::ExprPtr& expr) const { return read(*expr); }

Value AffineReader::read(const lang::Expr& expr) const {
  const auto ctx = domain_.ctx();
  if (!expr.type || !is_integer(*expr.type)) return std::nullopt;
  if (const auto* node = std::get_if<lang::IntLiteral>(&expr.node)) {
    if (node->value > largest_literal) return std::nullopt;
    return constant(isl::val(ctx, static_cast<long>(node->value)));
  }
  if (const auto* node = std::get_if<lang::Name>(&expr.node)) {
    if (auto found = iterators_.find(node->id); found != iterators_.end())
      return isl::pw_aff(domain_.space().identity_multi_aff_on_domain().at(found->second));
    auto size = sizes_.find(node->id);
    return size == sizes_.end() ? Value() : constant(isl::val(ctx, static_cast<long>(size->second)));
  }
  if (const auto* node = std::get_if<lang::SizeOf>(&expr.node)) {
    auto box = boxes_.find(node->tensor);
    if (box == boxes_.end()) return std::nullopt;
    return constant(isl::val(ctx, static_cast<long>(box->second.at(static_cast<std::size_t>(node->dimension)).extent)));
  }
  if (*expr.type != DType::Int64) return std::nullopt;
  if (const auto* node = std::get_if<lang::Cast>(&expr.node)) return read(*node->value);
  if (const auto* node = std::get_if<lang::Binary>(&expr.node)) return binary(*node);
  if (const auto* node = std::get_if<lang::Select>(&expr.node))
    return choice(node->condition, node->then_value, node->else_value);
  if (const auto* node = std::get_if<lang::Call>(&expr.node)) return call_value(*node);
  if (const auto* node = std::get_if<lang::Unary>(&expr.node)) {
    if (node->op != lang::UnaryOp::Negate) return std::nullopt;
    auto value = read(*node->value);
    return value ? Value(value->neg()) : std::nullopt;
  }
  return std::nullopt;
}

Value AffineReader::binary(const lang::Binary& node) const {
  const auto left = read(*node.left);
  const auto right = left ? read(*node.right) : std::nullopt;
  if (!right) return std::nullopt;
  const auto a = constant_of(*left), b = constant_of(*right);
  const isl::val most(domain_.ctx(), static_cast<long>(largest_literal));
  switch (node.op) {
    case BinaryOp::Add:
      return left->add(*right);
    case BinaryOp::Sub:
      return left->sub(*right);
    case BinaryOp::Mul:
      if (b && b->abs().le(most)) return left->scale(*b);
      if (a && a->abs().le(most)) return right->scale(*a);
      return std::nullopt;
    case BinaryOp::Div:
      return b && b->is_pos() ? Value(left->scale_down(*b).floor()) : std::nullopt;
    case BinaryOp::Mod:
      return b && b->is_pos() ? Value(left->mod(*b)) : std::nullopt;
    default:
      return std::nullopt;
  }
}

Value AffineReader::choice(const lang::ExprPtr& condition, const lang::ExprPtr& a, const lang::ExprPtr& b) const {
  const auto first = read(*a), second = first ? read(*b) : std::nullopt;
  if (!second) return std::nullopt;
  const auto holds = where(condition, true), fails = where(condition, false);
  if (!holds.is_disjoint(fails)) return std::nullopt;
  return first->intersect_domain(holds).union_add(second->intersect_domain(fails));
}

Value AffineReader::call_value(const lang::Call& node) const {
  const auto& arguments = node.arguments;
  if (node.function == "select") return choice(arguments.at(0), arguments.at(1), arguments.at(2));
  std::vector<isl::pw_aff> values;
  for (const auto& argument : arguments) {
    auto value = read(*argument);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  if (node.function == "min" && values.size() == 2) return values[0].min(values[1]);
  if (node.function == "max" && values.size() == 2) return values[0].max(values[1]);
  if (node.function == "clamp" && values.size() == 3) return values[0].max(values[1]).min(values[2]);
  return std::nullopt;
}

isl::set AffineReader::where(const lang::ExprPtr& condition, bool holds) const {
  if (const auto* node = std::get_if<lang::BoolLiteral>(&condition->node))
    return node->value == holds ? universe_ : isl::set::empty(universe_.space());
  if (const auto* node = std::get_if<lang::Unary>(&condition->node); node && node->op == lang::UnaryOp::Not)
    return where(node->value, !holds);
  if (const auto* node = std::get_if<lang::Select>(&condition->node))
    return where(node->condition, true)
        .intersect(where(node->then_value, holds))
        .unite(where(node->condition, false).intersect(where(node->else_value, holds)));
  const auto* node = std::get_if<lang::Binary>(&condition->node);
  if (!node) return universe_;
  if (node->op == BinaryOp::And || node->op == BinaryOp::Or) {
    const auto a = where(node->left, holds), b = where(node->right, holds);
    return holds == (node->op == BinaryOp::And) ? a.intersect(b) : a.unite(b);
  }
  return compare(*node, holds);
}

isl::set AffineReader::compare(const lang::Binary& node, bool holds) const {
  const auto a = read(*node.left);
  const auto b = a ? read(*node.right) : std::nullopt;
  if (!b) return universe_;
  switch (node.op) {
    case BinaryOp::Lt:
      return holds ? a->lt_set(*b) : a->ge_set(*b);
    case BinaryOp::Le:
      return holds ? a->le_set(*b) : a->gt_set(*b);
    case BinaryOp::Gt:
      return holds ? a->gt_set(*b) : a->le_set(*b);
    case BinaryOp::Ge:
      return holds ? a->ge_set(*b) : a->lt_set(*b);
    case BinaryOp::Eq:
      return holds ? a->eq_set(*b) : a->ne_set(*b);
    case BinaryOp::Ne:
      return holds ? a->ne_set(*b) : a->eq_set(*b);
    default:
      return universe_;
  }
}

}  // namespace tc::proof
