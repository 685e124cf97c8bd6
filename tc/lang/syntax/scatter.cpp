#include "tc/lang/syntax/scatter.h"

#include <algorithm>
#include <limits>

#include "tc/base/str.h"

namespace tc::lang {
namespace {

ExprPtr extreme_float(bool largest) {
  const ExprPtr one = make_expr(FloatLiteral{1, "1.0"}), zero = make_expr(FloatLiteral{0, "0.0"});
  return make_expr(Binary{BinaryOp::Div, largest ? one : make_expr(Unary{UnaryOp::Negate, one}), zero});
}

ExprPtr extreme_integer(bool largest, DType type) {
  const int bits = bit_size(type) - (is_signed_integer(type) ? 1 : 0);
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
  ExprPtr value = make_expr(IntLiteral{largest ? most : 0});
  if (!largest && is_signed_integer(type)) value = make_expr(Unary{UnaryOp::Negate, make_expr(IntLiteral{most + 1})});
  return make_expr(Cast{type, value, false});
}

/// Is \p expr an element or a name that compares with an int64 by its value, as all integers but uint64 do?
bool compares_with_int64(const Expr& expr) {
  const bool is_read = std::holds_alternative<Access>(expr.node) || std::holds_alternative<Name>(expr.node);
  return is_read && expr.type && *expr.type != DType::UInt64;
}

/// \p expr with the casts that check inserted written out.
ExprPtr with_written_casts(const ExprPtr& expr) {
  auto parts = children(expr);
  for (auto& part : parts) part = with_written_casts(part);
  const ExprPtr result = parts.empty() ? expr : with_children(expr, parts);
  const auto* cast = std::get_if<Cast>(&result->node);
  if (!cast || !cast->implicit) return result;
  return make_expr(Cast{cast->type, cast->value, false}, expr->range, expr->type);
}

bool mentions(const ExprPtr& expr, const std::string& id) {
  bool found = false;
  for_each_expr(expr, [&](const ExprPtr& part) {
    const auto* name = std::get_if<Name>(&part->node);
    found = found || (name && name->id == id);
  });
  return found;
}

bool is_identity(const ExprPtr& expr, ReductionOp op) {
  static constexpr DType types[] = {DType::Float32, DType::Bool,  DType::Int8,   DType::Int16,  DType::Int32,
                                    DType::Int64,   DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64};
  return std::any_of(std::begin(types), std::end(types),
                     [&](DType type) { return equal(expr, identity_value(op, type)); });
}

/// The place of the clause of \p assignment that says which elements the scatter writes; null if there is none.
const Access* scattered_element(const Clause& clause, const Assignment& assignment) {
  const auto* exists = std::get_if<ExistsClause>(&clause.node);
  const auto* access = exists ? std::get_if<Access>(&exists->value->node) : nullptr;
  const bool own = access && access->tensor == assignment.target;
  return own && access->subscripts.size() == assignment.subscripts.size() ? access : nullptr;
}

/// Does nothing in \p scatter know the indices that \p assignment has for its subscripts?
bool forgets_indices(const Assignment& scatter, const Assignment& assignment) {
  for (std::size_t d = 0; d < scatter.subscripts.size(); ++d) {
    if (equal(scatter.subscripts[d], assignment.subscripts[d])) continue;
    const std::string& index = std::get<Name>(assignment.subscripts[d]->node).id;
    bool known = mentions(scatter.rhs, index);
    for (const auto& subscript : scatter.subscripts) known = known || mentions(subscript, index);
    for (const auto& clause : scatter.clauses)
      std::visit(overloaded{[&](const RangeClause& x) { known = known || x.index == index; },
                            [&](const LetClause& x) { known = known || mentions(x.value, index); },
                            [&](const ExistsClause& x) { known = known || mentions(x.value, index); }},
                 clause.node);
    if (known) return false;
  }
  return true;
}

}  // namespace

ExprPtr identity_value(ReductionOp op, DType type) {
  switch (op) {
    case ReductionOp::Sum:
      return make_expr(IntLiteral{0});
    case ReductionOp::Product:
      return make_expr(IntLiteral{1});
    case ReductionOp::Min:
    case ReductionOp::Max:
      if (!is_integer(type)) return extreme_float(op == ReductionOp::Min);
      return extreme_integer(op == ReductionOp::Min, type);
    case ReductionOp::And:
      return make_expr(BoolLiteral{true});
    case ReductionOp::Or:
      return make_expr(BoolLiteral{false});
  }
  return nullptr;
}

ExprPtr comparable_with_index(const ExprPtr& subscript) {
  const auto* cast = std::get_if<Cast>(&subscript->node);
  if (cast && cast->implicit && compares_with_int64(*cast->value)) return cast->value;
  return with_written_casts(subscript);
}

ExprPtr scatter_condition(const std::vector<ExprPtr>& subscripts, const std::vector<ExprPtr>& indices) {
  ExprPtr result;
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    if (equal(subscripts[d], indices[d])) continue;
    const SourceRange range = subscripts[d]->range;
    const ExprPtr equality = make_expr(Binary{BinaryOp::Eq, comparable_with_index(subscripts[d]), indices[d]}, range);
    result = result ? make_expr(Binary{BinaryOp::And, result, equality}, range) : equality;
  }
  return result;
}

std::optional<Assignment> as_scatter(const Assignment& assignment) {
  const bool is_checked = assignment.rhs->type.has_value();
  const bool has_indices = left_iterators(assignment).size() == assignment.subscripts.size();
  if (!is_checked || !has_indices || !assignment.reduction) return std::nullopt;
  const Access* element = nullptr;
  std::size_t place = 0;
  for (std::size_t i = 0; i < assignment.clauses.size() && !element; ++i)
    if ((element = scattered_element(assignment.clauses[i], assignment))) place = i;
  if (!element) return std::nullopt;
  ExprPtr value = assignment.rhs;
  while (const auto* cast = std::get_if<Cast>(&value->node)) {
    if (!cast->implicit) break;
    value = cast->value;
  }
  const auto* select = std::get_if<Select>(&value->node);
  const ExprPtr condition = scatter_condition(element->subscripts, assignment.subscripts);
  if (!select || !condition || !equal(select->condition, condition)) return std::nullopt;
  if (!is_identity(select->else_value, *assignment.reduction)) return std::nullopt;
  Assignment scatter = assignment;
  scatter.subscripts = element->subscripts;
  scatter.rhs = select->then_value;
  scatter.clauses.erase(scatter.clauses.begin() + static_cast<std::ptrdiff_t>(place));
  if (!forgets_indices(scatter, assignment)) return std::nullopt;
  return scatter;
}

}  // namespace tc::lang
