#include "tc/halide_bridge/rewrite/hoist_invariants.h"

#include <algorithm>
#include <array>
#include <set>

#include "tc/base/contains.h"
#include "tc/base/str.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// Evaluations for one instance from which on a temporary, written and read once, costs less than the cheapest of
/// functions and divisions, some ten operations.
constexpr std::int64_t least_repeats = 4;

/// Functions that are an instruction or two.
constexpr std::array<const char*, 5> cheap_functions = {"tc_min_", "tc_max_", "tc_fmin_", "tc_fmax_", "tc_from_"};

std::int64_t elements(const lang::Box& box) {
  std::int64_t result = 1;
  for (const auto& interval : box) {
    if (interval.extent <= 0) return 0;
    if (__builtin_mul_overflow(result, interval.extent, &result)) return INT64_MAX;
  }
  return result;
}

/// What an expression reads, and whether it is dear.
class Uses : public ir::IRVisitor {
 public:
  std::set<std::string> variables, tensors;
  bool dear = false;

  explicit Uses(const Expr& expr) { expr.accept(this); }

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Variable* op) override { variables.insert(op->name); }
  void visit(const ir::Div* op) override {
    dear = dear || op->type.is_float();
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Call* op) override {
    if (op->call_type == ir::Call::Halide) tensors.insert(op->name);
    bool cheap = std::any_of(cheap_functions.begin(), cheap_functions.end(),
                             [&](const char* prefix) { return op->name.rfind(prefix, 0) == 0; });
    dear = dear || (op->call_type == ir::Call::PureExtern && op->type.is_float() && !cheap);
    ir::IRVisitor::visit(op);
  }
};

/// Takes the parts out of the value of one statement.
class Hoister : public ir::IRMutator {
 public:
  Hoister(const Program& program, const ProgramStatement& statement, std::vector<ProgramTensor>& tensors, bool products)
      : program_(program), statement_(statement), tensors_(tensors), products_(products) {
    for (const auto& name : Uses(statement.value).tensors) room_ = std::max(room_, elements(program.tensor(name).box));
    room_ = std::max(room_, elements(program.tensor(statement.target).box));
  }

  std::vector<ProgramStatement> hoisted;

  using ir::IRMutator::mutate;
  Expr mutate(const Expr& expr) override {
    bool is_value = expr.type() == Halide::Float(32) || expr.type() == Halide::Float(64);
    if (is_value && (products_ || !expr.as<ir::Mul>()))
      if (auto iterators = hoistable(expr)) return read(expr, *iterators);
    return ir::IRMutator::mutate(expr);
  }

 private:
  using ir::IRMutator::visit;
  Expr visit(const ir::Call* op) override {
    if (op->call_type == ir::Call::Halide) return op;
    if (!op->is_intrinsic(ir::Call::if_then_else)) return ir::IRMutator::visit(op);
    auto arguments = op->args;
    arguments[0] = mutate(arguments[0]);
    return ir::Call::make(op->type, op->name, arguments, op->call_type);
  }

  lang::Box box(const std::vector<std::string>& iterators) const {
    lang::Box result;
    for (std::size_t i = 0; i < statement_.iterators.size(); ++i)
      if (contains(iterators, statement_.iterators[i])) result.push_back(statement_.domain[i]);
    return result;
  }

  /// The iterators of a temporary for \p expr, if it is to have one.
  std::optional<std::vector<std::string>> hoistable(const Expr& expr) const {
    Uses uses(expr);
    if (!uses.dear) return std::nullopt;
    std::vector<std::string> iterators;
    for (const auto& name : statement_.iterators)
      if (uses.variables.count(name)) iterators.push_back(name);
    auto values = elements(box(iterators)), instances = elements(statement_.domain);
    if (iterators.empty() || values > room_ || instances / least_repeats < values) return std::nullopt;
    return iterators;
  }

  /// The element of the temporary that holds \p expr.
  Expr read(const Expr& expr, const std::vector<std::string>& iterators) {
    const auto subscripts = iterator_values(iterators);
    for (const auto& known : hoisted)
      if (ir::equal(known.value, expr)) return element_read(expr.type(), known.target, subscripts);
    auto type = expr.type() == Halide::Float(64) ? DType::Float64 : DType::Float32;
    ProgramStatement statement;
    statement.target = unused_name();
    statement.iterators = iterators;
    statement.subscripts = subscripts;
    statement.domain = box(iterators);
    statement.value = expr;
    statement.source = statement_.source;
    statement.conditions = conditions_of(iterators, statement_.conditions);
    tensors_.push_back({statement.target, type, lang::Role::Temporary, statement.domain});
    hoisted.push_back(statement);
    return element_read(expr.type(), statement.target, subscripts);
  }

  /// The prime ends no name of a text; isl reads primes at the end of a name only, and the target may have one.
  std::string unused_name() const {
    auto stem = statement_.target.substr(0, statement_.target.find('\''));
    for (int k = 0;; ++k) {
      auto name = str(stem, "_value", k == 0 ? "" : std::to_string(k), "'");
      if (std::none_of(tensors_.begin(), tensors_.end(), [&](const auto& tensor) { return tensor.name == name; }))
        return name;
    }
  }

  const Program& program_;
  const ProgramStatement& statement_;
  std::vector<ProgramTensor>& tensors_;
  const bool products_;    ///< may be hoisted whole
  std::int64_t room_ = 0;  ///< elements that a temporary may have
};

}  // namespace

Program hoist_invariants(const Program& program, bool products) {
  Program result{program.name, program.tensors, {}, program.symbolic, program.preconditions, program.running};
  int count = 0;
  for (const auto& launch : program.launches) {
    auto& made = result.launches.emplace_back(Launch{{}, launch.checks});
    for (auto statement : launch.statements) {
      if (statement.kind == ProgramStatement::Kind::Update && statement.loops.empty()) {
        Hoister hoister(program, statement, result.tensors, products);
        auto value = hoister.mutate(statement.value);
        for (auto& before : hoister.hoisted) made.statements.push_back(std::move(before));
        statement.value = value;
      }
      made.statements.push_back(std::move(statement));
    }
    for (auto& statement : made.statements) statement.id = str("S", count++);
  }
  return result;
}

}  // namespace tc::halide_bridge
