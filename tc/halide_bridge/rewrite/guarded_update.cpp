#include "tc/halide_bridge/rewrite/guarded_update.h"

#include <limits>

#include "tc/halide_bridge/lower/conditional.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// Puts values in the places of variables and of reads.
class Replacer : public ir::IRMutator {
 public:
  Replacer(const std::map<std::string, Expr>& values, const std::map<std::string, Expr>& reads)
      : values_(values), reads_(reads) {}

 protected:
  using ir::IRMutator::visit;
  Expr visit(const ir::Variable* op) override {
    const auto found = values_.find(op->name);
    return found == values_.end() ? Expr(op) : found->second;
  }
  Expr visit(const ir::Call* op) override {
    if (op->call_type != ir::Call::Halide) return ir::IRMutator::visit(op);
    if (const auto found = reads_.find(op->name); found != reads_.end()) return found->second;
    std::vector<Expr> subscripts;
    for (const Expr& subscript : op->args) subscripts.push_back(mutate(subscript));
    return element_read(op->type, op->name, subscripts);
  }

 private:
  const std::map<std::string, Expr>&values_, &reads_;
};

/// The number that \p expr, made of literals, products and quotients, is.
std::optional<double> constant_float(const Expr& expr) {
  if (const auto* literal = expr.as<ir::FloatImm>()) return literal->value;
  if (const auto* cast = expr.as<ir::Cast>()) return constant_float(cast->value);
  const auto* product = expr.as<ir::Mul>();
  const auto* quotient = expr.as<ir::Div>();
  if (!product && !quotient) return std::nullopt;
  const auto a = constant_float(product ? product->a : quotient->a);
  const auto b = constant_float(product ? product->b : quotient->b);
  if (!a || !b) return std::nullopt;
  return product ? *a * *b : *a / *b;
}

/// Adds the conditions that must all hold for \p condition, in order.
void add_conditions(const Expr& condition, std::vector<Expr>& result) {
  const auto* both = condition.as<ir::And>();
  const auto lazy = as_conditional(condition);
  if (both) {
    add_conditions(both->a, result);
    add_conditions(both->b, result);
  } else if (lazy && ir::is_const_zero(lazy->else_value)) {
    add_conditions(lazy->condition, result);
    add_conditions(lazy->then_value, result);
  } else {
    result.push_back(condition);
  }
}

}  // namespace

bool is_identity(const Expr& expr, ReductionOp op) {
  if (reads_tensor(expr)) return false;
  const Expr simple = ir::simplify(expr);
  switch (op) {
    case ReductionOp::Sum:
    case ReductionOp::Or:
      return ir::is_const_zero(simple);
    case ReductionOp::Product:
    case ReductionOp::And:
      return ir::is_const_one(simple);
    case ReductionOp::Min:
    case ReductionOp::Max:
      break;
  }
  const bool largest = op == ReductionOp::Min;
  if (expr.type().is_float())
    return constant_float(expr) == (largest ? 1 : -1) * std::numeric_limits<double>::infinity();
  return ir::equal(simple, largest ? expr.type().max() : expr.type().min());
}

std::optional<GuardedUpdate> guarded_update(const ProgramStatement& statement) {
  if (statement.kind != ProgramStatement::Kind::Update) return std::nullopt;
  GuardedUpdate result{{}, statement.value, {}};
  while (const auto value = as_conditional(result.value)) {
    if (!is_identity(value->else_value, statement.op)) break;
    add_conditions(value->condition, result.conditions);
    result.value = value->then_value;
    result.identity = value->else_value;
  }
  return result.conditions.empty() ? std::nullopt : std::optional(std::move(result));
}

Expr all_of(const std::vector<Expr>& conditions) {
  Expr result = conditions.back();
  for (auto i = conditions.size() - 1; i-- > 0;) result = if_then_else(conditions[i], result, ir::make_bool(false));
  return result;
}

bool reads_tensor(const Expr& expr) { return !element_reads(expr).empty(); }

Expr replaced(const Expr& expr, const std::map<std::string, Expr>& values, const std::map<std::string, Expr>& reads) {
  Replacer replacer(values, reads);
  return replacer.mutate(expr);
}

bool is_iterator(const Expr& expr, const std::string& name) {
  const auto* variable = expr.as<ir::Variable>();
  return variable && variable->name == name;
}

}  // namespace tc::halide_bridge
