#include "tc/halide_bridge/lower/scatter_matches.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "tc/halide_bridge/lower/conditional.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// Values of an iterator from which on a loop over it takes longer than an update of memory for each term.
constexpr std::int64_t least_matches = 16;

bool reads_tensor(const Expr& expr) {
  struct Finder : ir::IRVisitor {
    using ir::IRVisitor::visit;
    bool found = false;
    void visit(const ir::Call* op) override {
      found = found || op->call_type == ir::Call::Halide;
      ir::IRVisitor::visit(op);
    }
  } finder;
  expr.accept(&finder);
  return finder.found;
}

/// Puts a value in the place of a variable.
class Replacer : public ir::IRMutator {
 public:
  Replacer(const std::string& name, const Expr& value) : name_(name), value_(value) {}

 protected:
  using ir::IRMutator::visit;
  Expr visit(const ir::Variable* op) override { return op->name == name_ ? value_ : Expr(op); }
  Expr visit(const ir::Call* op) override {
    if (op->call_type != ir::Call::Halide) return ir::IRMutator::visit(op);
    std::vector<Expr> subscripts;
    for (const Expr& subscript : op->args) subscripts.push_back(mutate(subscript));
    return element_read(op->type, op->name, subscripts);
  }

 private:
  const std::string& name_;
  const Expr& value_;
};

bool is_iterator(const Expr& expr, const std::string& name) {
  const auto* variable = expr.as<ir::Variable>();
  return variable && variable->name == name;
}

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

/// Is \p expr what a reduction by \p op begins with?
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

/// The conditions that must all hold for \p condition, in order: one may be evaluated only where those before hold.
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

/// Do all of \p conditions hold, each evaluated only where those before do?
Expr all_of(const std::vector<Expr>& conditions) {
  Expr result = conditions.back();
  for (auto i = conditions.size() - 1; i-- > 0;) result = if_then_else(conditions[i], result, ir::make_bool(false));
  return result;
}

bool is_written_by(const ProgramStatement& statement, const std::string& iterator) {
  return std::any_of(statement.subscripts.begin(), statement.subscripts.end(),
                     [&](const Expr& subscript) { return is_iterator(subscript, iterator); });
}

/// Does \p expr mention an iterator that \p statement reduces over?
bool is_reduced(const Expr& expr, const ProgramStatement& statement) {
  return std::any_of(statement.iterators.begin(), statement.iterators.end(), [&](const std::string& iterator) {
    return !is_written_by(statement, iterator) && ir::expr_uses_var(expr, iterator);
  });
}

/// The index that \p condition, one of \p statement, compares with \p iterator; undefined if it does not.
Expr matched_index(const Expr& condition, const std::string& iterator, const ProgramStatement& statement) {
  const auto* equality = condition.as<ir::EQ>();
  if (!equality) return {};
  const bool left = is_iterator(equality->a, iterator);
  if (!left && !is_iterator(equality->b, iterator)) return {};
  const Expr index = left ? equality->b : equality->a;
  const bool moves = reads_tensor(index) || is_reduced(index, statement);
  return moves && !ir::expr_uses_var(index, iterator) ? index : Expr();
}

/// \p statement without its iterator number \p i, which \p conditions [ \p match ] says is \p index.
ProgramStatement scattered(const ProgramStatement& statement, std::size_t i, const Conditional& value,
                           std::vector<Expr> conditions, std::size_t match, const Expr& index) {
  const std::string name = statement.iterators[i];
  const Expr first = ir::make_const(Halide::Int(64), statement.domain[i].min);
  const Expr end = ir::make_const(Halide::Int(64), statement.domain[i].min + statement.domain[i].extent);
  conditions[match] = ir::And::make(ir::LE::make(first, index), ir::LT::make(index, end));
  std::vector<Expr> early(conditions.begin(), conditions.begin() + static_cast<std::ptrdiff_t>(match) + 1), late;
  Replacer replacer(name, index);
  for (auto* all : {&conditions, &early})
    for (auto& condition : *all) condition = replacer.mutate(condition);
  ProgramStatement result = statement;
  result.iterators.erase(result.iterators.begin() + static_cast<std::ptrdiff_t>(i));
  result.domain.erase(result.domain.begin() + static_cast<std::ptrdiff_t>(i));
  const Expr row = if_then_else(all_of(early), index, first);
  for (auto& subscript : result.subscripts)
    if (is_iterator(subscript, name)) subscript = row;
  result.value = if_then_else(all_of(conditions), replacer.mutate(value.then_value), value.else_value);
  return result;
}

/// \p statement without one of the iterators that it only compares with an index; nothing if there is none.
std::optional<ProgramStatement> without_a_match(const ProgramStatement& statement) {
  if (statement.kind != ProgramStatement::Kind::Update) return std::nullopt;
  const auto value = as_conditional(statement.value);
  if (!value || !is_identity(value->else_value, statement.op)) return std::nullopt;
  std::vector<Expr> conditions;
  add_conditions(value->condition, conditions);
  for (std::size_t i = 0; i < statement.iterators.size(); ++i) {
    if (statement.domain[i].extent < least_matches) continue;
    for (std::size_t match = 0; match < conditions.size(); ++match)
      if (const Expr index = matched_index(conditions[match], statement.iterators[i], statement); index.defined())
        return scattered(statement, i, *value, conditions, match, index);
  }
  return std::nullopt;
}

}  // namespace

Program scatter_matches(const Program& program) {
  Program result = program;
  for (auto& launch : result.launches)
    for (auto& statement : launch.statements)
      while (auto fewer = without_a_match(statement)) statement = *std::move(fewer);
  return result;
}

}  // namespace tc::halide_bridge
