#include "tc/engine/compile/body_operations.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tc/halide_bridge/lower/conditional.h"
#include "tc/halide_bridge/lower/program.h"
#include "tc/halide_bridge/lower/variable_names.h"

namespace tc::engine {
namespace {

namespace ir = Halide::Internal;
using halide_bridge::ProgramStatement;
using strategy::BodyOperations;

/// Functions that are an instruction or two.
constexpr std::array<std::string_view, 8> short_functions = {"tc_min",  "tc_max", "tc_fmin", "tc_fmax",
                                                             "floor_f", "ceil_f", "trunc_f", "tc_fma"};

/// How many exponentials a function takes as long as (on a Zen 4 tanh 24 cycles a vector, exp 12); others are `long_function`.
constexpr std::array<std::pair<std::string_view, double>, 4> exponentials = {
    {{"tc_exp_f", 1}, {"tc_exp2_f", 1}, {"tc_exp10_f", 1}, {"tc_tanh_f", 2}}};
constexpr double long_function = 3.5;

/// Of an operation, what taking a sign off is: any of the ports for vectors does it.
constexpr double sign_operation = 0.5;

/// Operations of an update by the larger or smaller of two floats, as which a NaN stays, and those of them that ask whether what is
/// new is one.
constexpr double extreme_operations = 2, extreme_of_value = 1;

template <typename Names>
bool begins_with_one(const std::string& name, const Names& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view one) { return std::string_view(name).substr(0, one.size()) == one; });
}

double exponentials_of(const std::string& function) {
  for (const auto& [name, count] : exponentials)
    if (function.rfind(name, 0) == 0) return count;
  return long_function;
}

bool is_extreme(const ProgramStatement& update) {
  return (update.op == ReductionOp::Max || update.op == ReductionOp::Min) && update.value.type().is_float();
}

/// Does \p expr compute with iterators and numbers alone?
class OfIterators : public ir::IRVisitor {
 public:
  explicit OfIterators(const Halide::Expr& expr) { expr.accept(this); }
  bool holds = true;

 protected:
  using ir::IRVisitor::visit;
  void visit(const ir::Call* op) override {
    if (op->is_intrinsic(ir::Call::if_then_else)) return ir::IRVisitor::visit(op);
    holds = false;
  }
  void visit(const ir::Load*) override { holds = false; }
};

/// What \p value is where conditions on iterators, which choose 0 or another number else, hold.
Halide::Expr guarded(const Halide::Expr& value) {
  const auto choice = halide_bridge::as_conditional(value);
  const bool is_guard = choice && OfIterators(choice->condition).holds && ir::is_const(choice->else_value);
  return is_guard ? guarded(choice->then_value) : value;
}

class Counter : public ir::IRVisitor {
 public:
  explicit Counter(const ProgramStatement& statement) : statement_(statement) {}
  BodyOperations result{.simple = 0};

 protected:
  using ir::IRVisitor::visit;
  void visit(const ir::Add* op) override { add_or_subtract(op); }
  void visit(const ir::Sub* op) override { add_or_subtract(op); }
  void visit(const ir::Mul* op) override { simple(op); }
  void visit(const ir::Min* op) override { simple(op); }
  void visit(const ir::Max* op) override { simple(op); }
  void visit(const ir::Cast* op) override { simple(op); }
  void visit(const ir::Select* op) override {
    if (!guards(op)) simple(op);
  }
  void visit(const ir::LT* op) override { compare(op); }
  void visit(const ir::LE* op) override { compare(op); }
  void visit(const ir::GT* op) override { compare(op); }
  void visit(const ir::GE* op) override { compare(op); }
  void visit(const ir::EQ* op) override { compare(op); }
  void visit(const ir::NE* op) override { compare(op); }
  void visit(const ir::Div* op) override {
    count(op, op->type.is_float() ? Kind::Division : Kind::Simple);
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Call* op) override {
    if (op->call_type == ir::Call::Halide || guards(op)) return;
    if (op->name.rfind("sqrt_f", 0) == 0)
      count(op, Kind::Division);
    else if (op->is_intrinsic(ir::Call::abs))
      count(op, Kind::Simple, sign_operation);
    else if (op->call_type != ir::Call::PureExtern || begins_with_one(op->name, short_functions))
      count(op, Kind::Simple);
    else
      count(op, Kind::Function, exponentials_of(op->name));
    ir::IRVisitor::visit(op);
  }

 private:
  /// A condition on iterators takes lanes off what is done anyway, or stands around loops: it counts for each of its values. False where
  /// \p op is none.
  bool guards(const Halide::Expr& op) {
    const auto choice = halide_bridge::as_conditional(op);
    if (!choice || !OfIterators(choice->condition).holds) return false;
    result.simple += share(choice->condition);
    for (const auto& part : {choice->condition, choice->then_value, choice->else_value}) part.accept(this);
    return true;
  }

  enum class Kind { Simple, Division, Function };

  /// The field of \p operations for \p kind.
  template <typename Operations>
  static double& of(Operations& operations, Kind kind) {
    return kind == Kind::Simple     ? operations.simple
           : kind == Kind::Division ? operations.divisions
                                    : operations.functions;
  }

  /// The iterators along which \p op has other values.
  std::vector<bool> changes(const Halide::Expr& op) const {
    const auto used = halide_bridge::variable_names({op});
    std::vector<bool> result;
    for (const auto& iterator : statement_.iterators) result.push_back(used.count(iterator) > 0);
    return result;
  }
  /// Of the instances, how many values there are of what changes along these iterators: it is computed once where it does not.
  double share(const std::vector<bool>& changes) const {
    double result = 1;
    for (std::size_t i = 0; i < changes.size(); ++i)
      if (!changes[i]) result /= static_cast<double>(std::max<std::int64_t>(statement_.domain[i].extent, 1));
    return result;
  }
  double share(const Halide::Expr& op) const { return share(changes(op)); }

  /// \p amount of \p op for each of its values.
  void count(const Halide::Expr& op, Kind kind, double amount = 1) {
    const auto moving = changes(op);
    of(result, kind) += amount * share(moving);
    if (share(moving) < 1 && !OfIterators(op).holds) of(invariant(moving), kind) += amount;
  }
  BodyOperations::Invariant& invariant(const std::vector<bool>& changes) {
    auto& all = result.invariants;
    const auto known = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.changes == changes; });
    return known != all.end() ? *known : all.emplace_back(BodyOperations::Invariant{changes});
  }
  template <typename Node>
  void simple(const Node* op) {
    count(op, Kind::Simple);
    ir::IRVisitor::visit(op);
  }
  /// Comparisons of floats; others are conditions on iterators.
  template <typename Node>
  void compare(const Node* op) {
    if (op->a.type().is_float()) simple(op);
  }
  template <typename Node>
  void add_or_subtract(const Node* op) {
    if (!op->a.template as<ir::Mul>() && !op->b.template as<ir::Mul>()) count(op, Kind::Simple);
    ir::IRVisitor::visit(op);
  }

  const ProgramStatement& statement_;
};

/// Iterations of the ragged loop of \p statement, if the loops of all its rows together make one pass over the range; 1 without one.
double mean_trips(const ProgramStatement& statement) {
  if (!statement.ragged) return 1;
  const auto used = halide_bridge::variable_names({statement.ragged->begin, statement.ragged->end});
  double result = static_cast<double>(statement.ragged->range.extent);
  for (std::size_t i = 0; i < statement.iterators.size(); ++i)
    if (used.count(statement.iterators[i]))
      result /= static_cast<double>(std::max<std::int64_t>(statement.domain[i].extent, 1));
  return std::max(result, 1.0);
}

BodyOperations times(BodyOperations operations, double factor) {
  for (auto* count : {&operations.simple, &operations.divisions, &operations.functions, &operations.of_value})
    *count *= factor;
  if (factor > 1) operations.invariants.clear();
  return operations;
}

}  // namespace

strategy::OperationsOfBodies body_operations(const halide_bridge::Program& program) {
  strategy::OperationsOfBodies result;
  for (const auto& launch : program.launches)
    for (const auto& statement : launch.statements) {
      Counter counter(statement);
      if (statement.value.defined()) statement.value.accept(&counter);
      bool adds = statement.kind == ProgramStatement::Kind::Update;
      bool fused = statement.value.defined() && guarded(statement.value).as<ir::Mul>();
      if (adds && !fused) counter.result.simple += is_extreme(statement) ? extreme_operations : 1;
      if (adds && is_extreme(statement)) counter.result.of_value = extreme_of_value;
      result[statement.id] = times(counter.result, mean_trips(statement));
    }
  return result;
}

}  // namespace tc::engine
