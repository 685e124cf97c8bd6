#include "tc/halide_bridge/lower/index_checks.h"

#include <algorithm>
#include <map>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/print.h"
#include "tc/lang/syntax/range_check.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using lang::ExprPtr;

/// A condition that must hold, or must not, for an access to happen.
struct Guard {
  ExprPtr condition;
  bool holds;
};

/// The names of variables and of tensors in an expression.
class Names : public ir::IRVisitor {
 public:
  std::set<std::string> variables, tensors;

 protected:
  using ir::IRVisitor::visit;
  void visit(const ir::Variable* op) override { variables.insert(op->name); }
  void visit(const ir::Call* op) override {
    if (op->call_type == ir::Call::Halide) tensors.insert(op->name);
    ir::IRVisitor::visit(op);
  }
};

bool has_access(const ExprPtr& expr) {
  bool found = false;
  lang::for_each_expr(expr, [&](const ExprPtr& e) { found = found || std::holds_alternative<lang::Access>(e->node); });
  return found;
}

/// Has each iterator that occurs in \p expr a value?
bool has_instances(const ExprPtr& expr, const ExprScope& scope) {
  bool result = true;
  lang::for_each_expr(expr, [&](const ExprPtr& part) {
    const auto* name = std::get_if<lang::Name>(&part->node);
    const auto found = name ? scope.iterators.find(name->id) : scope.iterators.end();
    result = result && (found == scope.iterators.end() || found->second.extent > 0);
  });
  return result;
}

class CheckCollector {
 public:
  CheckCollector(const std::vector<std::string>& iterators, const std::vector<Expr>& conditions,
                 const std::set<const lang::Expr*>& data_dependent, const ExprScope& scope)
      : iterators_(iterators), conditions_(conditions), data_dependent_(data_dependent), scope_(scope) {}

  /// Adds the checks of all accesses below \p expr, in the order of evaluation.
  void visit(const ExprPtr& expr) {
    if (const auto* select = std::get_if<lang::Select>(&expr->node)) {
      visit_choice(select->condition, select->then_value, select->else_value);
    } else if (const auto* call = std::get_if<lang::Call>(&expr->node); call && call->function == "select") {
      visit_choice(call->arguments.at(0), call->arguments.at(1), call->arguments.at(2));
    } else if (const auto* binary = std::get_if<lang::Binary>(&expr->node); binary && is_lazy(binary->op)) {
      visit(binary->left);
      visit_under({binary->left, binary->op == lang::BinaryOp::And}, binary->right);
    } else {
      for (const auto& child : lang::children(expr)) visit(child);
      if (const auto* access = std::get_if<lang::Access>(&expr->node)) check_access(*access, expr);
    }
  }

  /// Adds the check of \p range: to be called before visit().
  void check_range(const lang::RangeCheck& range, lang::SourceRange place) {
    visit(range.low);
    visit(range.high);
    CheckStep check = make_check(range_violation(range), place);
    add_conditions_of_others(check.update);
    check.level = std::max(depth(range.low), depth(range.high));
    behind_[range.index] = std::max(behind_[range.index], check.level + 1);
    check.message =
        str("the range of ", range.index, ", '", lang::print(range.low), ":", lang::print(range.high),
            "', must ascend in [", scope_.iterators.at(range.index).min, ", ",
            print_value(ir::simplify(end_of(range.index))), "]: a value in ", join(check.reads, " or "), " does not");
    checks_.push_back(std::move(check));
  }

  std::vector<CheckStep> take() { return std::move(checks_); }

 private:
  static bool is_lazy(lang::BinaryOp op) { return op == lang::BinaryOp::And || op == lang::BinaryOp::Or; }

  void visit_choice(const ExprPtr& condition, const ExprPtr& then_value, const ExprPtr& else_value) {
    visit(condition);
    visit_under({condition, true}, then_value);
    visit_under({condition, false}, else_value);
  }

  void visit_under(const Guard& guard, const ExprPtr& expr) {
    guards_.push_back(guard);
    visit(expr);
    guards_.pop_back();
  }

  const ProgramTensor& tensor(const lang::Access& access) const { return scope_.tensors.at(access.tensor); }

  /// The dimensions of \p access that are checked.
  std::vector<std::size_t> checked_dimensions(const lang::Access& access, const lang::Expr* place) const {
    const auto& subscripts = access.subscripts;
    const bool dependent =
        data_dependent_.count(place) > 0 || std::any_of(subscripts.begin(), subscripts.end(), has_access);
    std::vector<std::size_t> result;
    for (std::size_t d = 0; dependent && d < subscripts.size(); ++d) {
      if (!stays_inside(lower_index(subscripts[d], scope_), tensor(access), d, scope_)) result.push_back(d);
    }
    return result;
  }

  /// How many checked accesses are nested in \p expr.
  int depth(const ExprPtr& expr) const {
    int result = 0;
    for (const auto& child : lang::children(expr)) result = std::max(result, depth(child));
    const auto* access = std::get_if<lang::Access>(&expr->node);
    return access && !checked_dimensions(*access, expr.get()).empty() ? result + 1 : result;
  }

  void check_access(const lang::Access& access, const ExprPtr& expr) {
    for (const std::size_t d : checked_dimensions(access, expr.get())) add_check(access, d);
  }

  /// guards && !(min <= subscript && subscript < min + extent), inner parts evaluated only under the outer guards. One
  /// unsigned comparison, so that the subscript is read once.
  Expr violation(const ExprPtr& subscript, const ProgramTensor& tensor, std::size_t dimension) const {
    const lang::IntegerRange& interval = tensor.box[dimension];
    const LoweredExpr index = lower_index(subscript, scope_);
    const Integer offset = subtract({index.expr, index.bounds}, constant(Halide::Int(64), interval.min));
    const Expr extent = tensor.is_symbolic(dimension)
                            ? ir::Cast::make(Halide::UInt(64), tensor.extents[dimension])
                            : ir::UIntImm::make(Halide::UInt(64), static_cast<std::uint64_t>(interval.extent));
    Expr result = ir::GE::make(ir::Cast::make(Halide::UInt(64), interval.min == 0 ? index.expr : offset.expr), extent);
    for (auto guard = guards_.rbegin(); guard != guards_.rend(); ++guard) {
      const LoweredExpr inner{result, {}, false}, none{ir::make_bool(false)};
      const Expr condition = lower_expr(guard->condition, scope_).expr;
      result = guard->holds ? guarded_select(condition, inner, none) : guarded_select(condition, none, inner);
    }
    return result;
  }

  /// Nothing is read where an iterator that \p update does not have has no values.
  void add_conditions_of_others(ProgramStatement& update) const {
    for (const auto& iterator : iterators_) {
      const auto end = scope_.ends.find(iterator);
      if (end == scope_.ends.end() || contains(update.iterators, iterator)) continue;
      update.conditions.push_back(
          ir::LT::make(ir::make_const(Halide::Int(64), scope_.iterators.at(iterator).min), end->second));
    }
  }

  /// The end of \p dimension of \p tensor, as users read it.
  static std::string end_of(const ProgramTensor& tensor, std::size_t dimension) {
    const lang::IntegerRange& interval = tensor.box[dimension];
    if (!tensor.is_symbolic(dimension)) return str(interval.min + interval.extent);
    return print_value(ir::simplify(tensor.extents[dimension] + ir::make_const(Halide::Int(64), interval.min)));
  }

  /// The end of the values of \p iterator.
  Expr end_of(const std::string& iterator) const {
    const auto end = scope_.ends.find(iterator);
    const lang::IntegerRange& values = scope_.iterators.at(iterator);
    return end == scope_.ends.end() ? ir::make_const(Halide::Int(64), values.min + values.extent) : end->second;
  }

  /// Is a bound of \p range that reads an element outside of the values of its index, or are two not in order?
  Expr range_violation(const lang::RangeCheck& range) const {
    const Expr low = lower_index(range.low, scope_).expr, high = lower_index(range.high, scope_).expr;
    const bool has_low = lang::reads_element(range.low), has_high = lang::reads_element(range.high);
    const Expr least = ir::make_const(Halide::Int(64), scope_.iterators.at(range.index).min);
    Expr result = ir::LT::make(has_low ? low : high, least);
    result = ir::Or::make(result, ir::GT::make(has_high ? high : low, end_of(range.index)));
    return has_low && has_high ? ir::Or::make(result, ir::GT::make(low, high)) : result;
  }

  /// The check that \p violation holds nowhere, without a message.
  CheckStep make_check(Expr violation, lang::SourceRange place) const {
    CheckStep check;
    check.update.value = std::move(violation);
    Names names;
    check.update.value.accept(&names);
    check.reads = names.tensors;
    for (const auto& iterator : iterators_) {
      if (names.variables.count(iterator) == 0) continue;
      check.update.iterators.push_back(iterator);
      check.update.domain.push_back(scope_.iterators.at(iterator));
    }
    check.update.conditions = conditions_of(check.update.iterators, conditions_);
    for (auto* statement : {&check.initialise, &check.update}) {
      statement->op = ReductionOp::Or;
      statement->source = place;
    }
    check.initialise.kind = ProgramStatement::Kind::Init;
    check.update.kind = ProgramStatement::Kind::Update;
    return check;
  }

  void add_check(const lang::Access& access, std::size_t dimension) {
    const ExprPtr& subscript = access.subscripts[dimension];
    const lang::IntegerRange& interval = tensor(access).box[dimension];
    CheckStep check = make_check(violation(subscript, tensor(access), dimension), subscript->range);
    add_conditions_of_others(check.update);
    check.level = depth(subscript);
    for (const auto& guard : guards_) check.level = std::max(check.level, depth(guard.condition));
    int behind = 0;
    for (const auto& iterator : check.update.iterators)
      if (const auto found = behind_.find(iterator); found != behind_.end()) behind = std::max(behind, found->second);
    check.level += behind;
    check.message = str("subscript ", dimension, " of ", access.tensor, ", '", lang::print(subscript),
                        "', must be in [", interval.min, ", ", end_of(tensor(access), dimension), "): a value in ",
                        join(check.reads, " or "), " is not");
    checks_.push_back(std::move(check));
  }

  const std::vector<std::string>& iterators_;
  const std::vector<Expr>& conditions_;
  const std::set<const lang::Expr*>& data_dependent_;
  const ExprScope& scope_;
  std::vector<Guard> guards_;
  std::map<std::string, int> behind_;  ///< by index of a checked range, the least level of checks that run over it
  std::vector<CheckStep> checks_;
};

}  // namespace

std::vector<CheckStep> index_checks(const lang::Assignment& assignment, const std::vector<std::string>& iterators,
                                    const std::vector<Expr>& conditions,
                                    const std::set<const lang::Expr*>& data_dependent, const ExprScope& scope,
                                    bool runs) {
  CheckCollector collector(iterators, conditions, data_dependent, scope);
  for (const auto& clause : assignment.clauses)
    if (const auto* exists = std::get_if<lang::ExistsClause>(&clause.node))
      if (const auto range = lang::as_range_check(exists->value); range && runs)
        collector.check_range(*range, clause.range);
  if (runs) collector.visit(assignment.rhs);
  for (const auto& clause : assignment.clauses)
    if (const auto* exists = std::get_if<lang::ExistsClause>(&clause.node);
        exists && !lang::as_range_check(exists->value) && has_instances(exists->value, scope))
      collector.visit(exists->value);
  return collector.take();
}

}  // namespace tc::halide_bridge
