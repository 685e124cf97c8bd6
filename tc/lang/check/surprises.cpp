#include "tc/lang/check/surprises.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/lang/syntax/print.h"

namespace tc::lang {
namespace {

/// Is \p expr made of numbers and sizes?
bool is_fixed(const ExprPtr& expr) {
  if (const auto* name = std::get_if<Name>(&expr->node)) return name->kind == Name::Kind::Size;
  if (std::holds_alternative<Access>(expr->node)) return false;
  const auto parts = children(expr);
  return std::all_of(parts.begin(), parts.end(), is_fixed);
}

/// A quotient of numbers and sizes that the integer \p expr is, or is the sum or product of; null if there is none.
ExprPtr fixed_quotient(const ExprPtr& expr, const Scope& scope) {
  if (const auto* name = std::get_if<Name>(&expr->node)) {
    const auto let = scope.lets.find(name->id);
    return let == scope.lets.end() || !let->second.value ? nullptr : fixed_quotient(let->second.value, scope);
  }
  if (const auto* cast = std::get_if<Cast>(&expr->node))
    return cast->implicit ? fixed_quotient(cast->value, scope) : nullptr;
  if (const auto* unary = std::get_if<Unary>(&expr->node)) return fixed_quotient(unary->value, scope);
  const auto* pair = std::get_if<Binary>(&expr->node);
  if (!pair || pair->op > BinaryOp::Div) return nullptr;
  if (pair->op == BinaryOp::Div && is_fixed(pair->left) && is_fixed(pair->right)) return expr;
  const ExprPtr left = fixed_quotient(pair->left, scope);
  return left ? left : fixed_quotient(pair->right, scope);
}

void warn_of_quotient(const ExprPtr& quotient, Scope& scope) {
  const auto& pair = std::get<Binary>(quotient->node);
  const auto* literal = std::get_if<IntLiteral>(&pair.left->node);
  const std::string left = literal ? str(literal->value, ".0") : str("float32(", print(pair.left), ")");
  scope.diagnostics.add(
      {.code = "TC131",
       .range = quotient->range,
       .message = str("the quotient '", print(quotient), "' of integers is rounded down before it becomes a float"),
       .help = str("write ", left, " / ", print(pair.right)),
       .is_error = false});
}

void warn_of_quotients(const ExprPtr& value, Scope& scope) {
  for_each_expr(value, [&](const ExprPtr& expr) {
    const auto* cast = std::get_if<Cast>(&expr->node);
    if (!cast || !cast->implicit || !is_float(cast->type) || !cast->value->type || is_float(*cast->value->type)) return;
    if (const ExprPtr quotient = fixed_quotient(cast->value, scope)) warn_of_quotient(quotient, scope);
  });
}

void warn_of_narrow_sum(const Assignment& assignment, Scope& scope) {
  const TensorState& tensor = scope.tensors.at(assignment.target);
  const bool is_narrow = tensor.type && is_integer(*tensor.type) && bit_size(*tensor.type) < 32;
  if (assignment.reduction != ReductionOp::Sum || assignment.reduction_iterators.empty() || !is_narrow ||
      tensor.declared_type)
    return;
  scope.diagnostics.add(
      {.code = "TC132",
       .range = assignment.target_range,
       .message = str("the sum '", assignment.target, "' is ", name(*tensor.type),
                      ", as its terms are, and wraps beyond that"),
       .help = str("write int32(", print(assignment.rhs), "), or declare the type of the return where that is meant"),
       .is_error = false});
}

/// Is \p subscript the index \p left less a positive number?
bool steps_back(const ExprPtr& subscript, const ExprPtr& left) {
  const auto* pair = std::get_if<Binary>(&subscript->node);
  return pair && pair->op == BinaryOp::Sub && equal(pair->left, left) && is_fixed(pair->right);
}

void warn_of_recurrence(const Assignment& assignment, Scope& scope) {
  if (scope.carried.count(assignment.target)) return;
  for_each_expr(assignment.rhs, [&](const ExprPtr& expr) {
    const auto* access = std::get_if<Access>(&expr->node);
    if (!access || access->tensor != assignment.target || access->subscripts.size() != assignment.subscripts.size())
      return;
    bool back = false, along = true;
    for (std::size_t d = 0; d < access->subscripts.size(); ++d) {
      const bool steps = steps_back(access->subscripts[d], assignment.subscripts[d]);
      back = back || steps;
      along = along && (steps || equal(access->subscripts[d], assignment.subscripts[d]));
    }
    if (!back || !along) return;
    scope.diagnostics.add(
        {.code = "TC133",
         .range = expr->range,
         .message = str("'", print(expr), "' is what an earlier statement gave, not what this one writes"),
         .note = "a statement reads all its right-hand sides before it writes, so that this is no recurrence",
         .help = str(
             "write the loop whose iterations run in order, for i in 1:N { ... }; or give the earlier values a name of "
             "their own"),
         .is_error = false});
  });
}

}  // namespace

void warn_of_surprises(const Assignment& assignment, Scope& scope) {
  warn_of_quotients(assignment.rhs, scope);
  warn_of_narrow_sum(assignment, scope);
  warn_of_recurrence(assignment, scope);
}

}  // namespace tc::lang
