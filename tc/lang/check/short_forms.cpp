#include "tc/lang/check/short_forms.h"

#include <algorithm>
#include <bit>

#include "tc/base/str.h"
#include "tc/lang/check/type_expr.h"
#include "tc/lang/syntax/operators.h"
#include "tc/lang/syntax/range_check.h"
#include "tc/lang/syntax/scatter.h"

namespace tc::lang {
namespace {

/// \p left \p op \p value in the place and type of \p expr.
ExprPtr with_number(const ExprPtr& expr, const ExprPtr& left, BinaryOp op, std::uint64_t value) {
  return make_expr(Binary{op, left, make_expr(IntLiteral{value}, expr->range, expr->type)}, expr->range, expr->type);
}

/// \p base to the power of \p exponent, from 1 on, as products.
ExprPtr integer_power(const ExprPtr& base, std::uint64_t exponent) {
  if (exponent == 1) return base;
  const auto product = [&](const ExprPtr& a, const ExprPtr& b) {
    return make_expr(Binary{BinaryOp::Mul, a, b}, base->range, base->type);
  };
  const ExprPtr half = integer_power(base, exponent / 2), square = product(half, half);
  return exponent % 2 == 0 ? square : product(base, square);
}

/// What an operator on bits and a number is as arithmetic, else \p expr.
ExprPtr as_arithmetic(const ExprPtr& expr, const Binary& pair, std::uint64_t value) {
  const auto bits = static_cast<std::uint64_t>(bit_size(*expr->type) - (is_signed_integer(*expr->type) ? 1 : 0));
  if (is_shift(pair.op) && value < bits)
    return with_number(expr, pair.left, pair.op == BinaryOp::ShiftLeft ? BinaryOp::Mul : BinaryOp::Div,
                       std::uint64_t{1} << value);
  const bool is_mask = pair.op == BinaryOp::BitAnd && std::has_single_bit(value + 1) && value >> (bits - 1) == 0;
  return is_mask ? with_number(expr, pair.left, BinaryOp::Mod, value + 1) : expr;
}

ExprPtr without_own_short_form(const ExprPtr& expr) {
  if (const auto* unary = std::get_if<Unary>(&expr->node); unary && unary->op == UnaryOp::Complement) {
    const ExprPtr negated = make_expr(Unary{UnaryOp::Negate, unary->value}, expr->range, expr->type);
    return with_number(expr, negated, BinaryOp::Sub, 1);
  }
  const auto* pair = std::get_if<Binary>(&expr->node);
  if (!pair) return expr;
  const auto* literal = std::get_if<IntLiteral>(&pair->right->node);
  if (pair->op == BinaryOp::Power)
    return is_float(*expr->type) ? make_expr(Call{"pow", {pair->left, pair->right}}, expr->range, expr->type)
                                 : integer_power(pair->left, literal->value);
  return literal && is_bitwise(pair->op) ? as_arithmetic(expr, *pair, literal->value) : expr;
}

bool is_instance_range(const Clause& clause) {
  const auto* range = std::get_if<RangeClause>(&clause.node);
  return range && differs_by_instance(*range);
}

/// range.low <= index && index < range.high
ExprPtr is_in(const RangeClause& range) {
  const auto compare = [&](BinaryOp op, const ExprPtr& bound) {
    const ExprPtr index = make_expr(Name{range.index, Name::Kind::Iterator}, bound->range, DType::Int64);
    return make_expr(Binary{op, index, cast_to(bound, DType::Int64)}, bound->range, DType::Bool);
  };
  const ExprPtr begun = compare(BinaryOp::Ge, range.low), not_ended = compare(BinaryOp::Lt, range.high);
  return make_expr(Binary{BinaryOp::And, begun, not_ended}, range.low->range, DType::Bool);
}

/// \p assignment, a reduction, without ranges that differ by instance: its value is the operator's identity outside of them.
void write_out_instance_ranges(Assignment& assignment) {
  std::vector<Clause> checks;
  for (auto clause = assignment.clauses.rbegin(); clause != assignment.clauses.rend(); ++clause) {
    if (!is_instance_range(*clause)) continue;
    RangeClause range = std::get<RangeClause>(clause->node);
    for (ExprPtr* bound : {&range.low, &range.high}) *bound = without_short_forms(*bound);
    const DType type = *assignment.rhs->type;
    const ExprPtr none = give_type(identity_value(*assignment.reduction, type), type);
    assignment.rhs = make_expr(Select{is_in(range), assignment.rhs, none}, assignment.rhs->range, type);
    if (!reads_element(range.low) && !reads_element(range.high)) continue;
    const ExprPtr check = make_range_check({range.index, range.low, range.high}, clause->range);
    checks.push_back({ExistsClause{check}, clause->range});
  }
  std::erase_if(assignment.clauses, is_instance_range);
  assignment.clauses.insert(assignment.clauses.end(), checks.begin(), checks.end());
}

}  // namespace

bool differs_by_instance(const RangeClause& range) {
  bool result = reads_element(range.low) || reads_element(range.high);
  for (const ExprPtr& bound : {range.low, range.high})
    for_each_expr(bound, [&](const ExprPtr& expr) {
      const auto* name = std::get_if<Name>(&expr->node);
      result = result || (name && name->kind == Name::Kind::Iterator && name->id != range.index);
    });
  return result;
}

bool has_instance_ranges(const Def& def) {
  return std::any_of(def.statements.begin(), def.statements.end(), [](const Statement& statement) {
    const auto* assignment = std::get_if<Assignment>(&statement.node);
    return assignment && std::any_of(assignment->clauses.begin(), assignment->clauses.end(), is_instance_range);
  });
}

ExprPtr without_short_forms(const ExprPtr& expr) {
  auto parts = children(expr);
  bool changed = false;
  for (auto& part : parts) {
    const ExprPtr whole = without_short_forms(part);
    changed = changed || whole != part;
    part = whole;
  }
  return without_own_short_form(changed ? with_children(expr, parts) : expr);
}

Statement without_short_forms(const Statement& statement) {
  const auto* assignment = std::get_if<Assignment>(&statement.node);
  if (!assignment) return statement;
  Assignment result = *assignment;
  result.rhs = without_short_forms(result.rhs);
  if (result.reduction) write_out_instance_ranges(result);
  for (auto& clause : result.clauses)
    std::visit(overloaded{[](RangeClause&) {}, [](auto& x) { x.value = without_short_forms(x.value); }}, clause.node);
  return {std::move(result), statement.range, statement.loops};
}

Def without_short_forms(Def def) {
  for (auto& statement : def.statements) statement = without_short_forms(statement);
  return def;
}

}  // namespace tc::lang
