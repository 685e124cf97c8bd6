#include "tc/engine/compile/body_operations.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "tc/halide_bridge/lower/program.h"

namespace tc::engine {
namespace {

namespace ir = Halide::Internal;
using strategy::BodyOperations;

/// Functions that are an instruction or two.
constexpr std::array<std::string_view, 8> short_functions = {"tc_min",  "tc_max", "tc_fmin", "tc_fmax",
                                                             "floor_f", "ceil_f", "trunc_f", "tc_fma"};

/// Those of a square root, which takes as long as a division.
bool is_square_root(const std::string& name) { return name.rfind("sqrt_f", 0) == 0; }

bool is_short(const ir::Call* op) {
  return op->call_type != ir::Call::PureExtern ||
         std::any_of(short_functions.begin(), short_functions.end(),
                     [&](std::string_view name) { return std::string_view(op->name).substr(0, name.size()) == name; });
}

class Counter : public ir::IRVisitor {
 public:
  BodyOperations result{.simple = 0};

 protected:
  using ir::IRVisitor::visit;
  void visit(const ir::Add* op) override { add_or_subtract(op); }
  void visit(const ir::Sub* op) override { add_or_subtract(op); }
  void visit(const ir::Mul* op) override { simple(op); }
  void visit(const ir::Min* op) override { simple(op); }
  void visit(const ir::Max* op) override { simple(op); }
  void visit(const ir::Cast* op) override { simple(op); }
  void visit(const ir::Select* op) override { simple(op); }
  void visit(const ir::LT* op) override { compare(op); }
  void visit(const ir::LE* op) override { compare(op); }
  void visit(const ir::GT* op) override { compare(op); }
  void visit(const ir::GE* op) override { compare(op); }
  void visit(const ir::EQ* op) override { compare(op); }
  void visit(const ir::NE* op) override { compare(op); }
  void visit(const ir::Div* op) override {
    ++(op->type.is_float() ? result.divisions : result.simple);
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Call* op) override {
    if (op->call_type == ir::Call::Halide) return;
    if (is_square_root(op->name))
      ++result.divisions;
    else
      ++(is_short(op) ? result.simple : result.functions);
    ir::IRVisitor::visit(op);
  }

 private:
  template <typename Node>
  void simple(const Node* op) {
    ++result.simple;
    ir::IRVisitor::visit(op);
  }
  /// Comparisons of floats; others are conditions on iterators.
  template <typename Node>
  void compare(const Node* op) {
    if (op->a.type().is_float()) simple(op);
  }
  template <typename Node>
  void add_or_subtract(const Node* op) {
    if (!op->a.template as<ir::Mul>() && !op->b.template as<ir::Mul>()) ++result.simple;
    ir::IRVisitor::visit(op);
  }
};

}  // namespace

strategy::OperationsOfBodies body_operations(const halide_bridge::Program& program) {
  strategy::OperationsOfBodies result;
  for (const auto& launch : program.launches)
    for (const auto& statement : launch.statements) {
      Counter counter;
      if (statement.value.defined()) statement.value.accept(&counter);
      bool adds = statement.kind == halide_bridge::ProgramStatement::Kind::Update;
      bool fused = statement.value.defined() && statement.value.as<ir::Mul>();
      if (adds && !fused) ++counter.result.simple;
      result[statement.id] = counter.result;
    }
  return result;
}

}  // namespace tc::engine
