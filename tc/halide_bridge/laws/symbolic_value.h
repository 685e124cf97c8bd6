#pragma once

#include <Halide.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tc/base/dtype.h"
#include "tc/halide_bridge/laws/symbolic_memory.h"

namespace tc::halide_bridge {

/// A lane of a value: its number, if it is an integer or a truth that depends on no data, and what it was computed from.
struct SymbolicLane {
  std::optional<std::int64_t> number;
  Symbols from;
};
using SymbolicValue = std::vector<SymbolicLane>;

/// What \p op makes of two lanes; a truth that decides the result alone makes the other lane not count.
SymbolicLane combined(ReductionOp op, const SymbolicLane& a, const SymbolicLane& b);

/// Thrown where data choose what runs.
struct Undecided {};

/// Computes expressions on symbols. Numbers are those of bool and of integers, of unsigned ones of
/// 64 bits with their bits as signed; variables are bound in `variables`.
class SymbolicEvaluator : public Halide::Internal::IRVisitor {
 public:
  /// The lanes that a read finds, of which its \p address lanes and predicate are known as far as they are.
  using Read = std::function<SymbolicValue(const Halide::Internal::Load& load, const SymbolicValue& address,
                                           const SymbolicValue& runs, bool certain)>;
  /// What the read of an element, a call of Call::Halide, finds.
  using Element = std::function<SymbolicLane(const Halide::Internal::Call& read, const SymbolicValue& subscripts)>;

  SymbolicEvaluator(Read read, Element element) : read_(std::move(read)), element_(std::move(element)) {}

  std::map<std::string, SymbolicValue> variables;
  std::function<void(const Halide::Expr&)> skip;  ///< told what is not computed, in its turn

  SymbolicValue operator()(const Halide::Expr& expr);

 protected:
  using Halide::Internal::IRVisitor::visit;
  void visit(const Halide::Internal::IntImm* op) override;
  void visit(const Halide::Internal::UIntImm* op) override;
  void visit(const Halide::Internal::FloatImm* op) override;
  void visit(const Halide::Internal::StringImm* op) override;
  void visit(const Halide::Internal::Cast* op) override;
  void visit(const Halide::Internal::Variable* op) override;
  void visit(const Halide::Internal::Add* op) override;
  void visit(const Halide::Internal::Sub* op) override;
  void visit(const Halide::Internal::Mul* op) override;
  void visit(const Halide::Internal::Div* op) override;
  void visit(const Halide::Internal::Mod* op) override;
  void visit(const Halide::Internal::Min* op) override;
  void visit(const Halide::Internal::Max* op) override;
  void visit(const Halide::Internal::EQ* op) override;
  void visit(const Halide::Internal::NE* op) override;
  void visit(const Halide::Internal::LT* op) override;
  void visit(const Halide::Internal::LE* op) override;
  void visit(const Halide::Internal::GT* op) override;
  void visit(const Halide::Internal::GE* op) override;
  void visit(const Halide::Internal::And* op) override;
  void visit(const Halide::Internal::Or* op) override;
  void visit(const Halide::Internal::Not* op) override;
  void visit(const Halide::Internal::Select* op) override;
  void visit(const Halide::Internal::Load* op) override;
  void visit(const Halide::Internal::Ramp* op) override;
  void visit(const Halide::Internal::Broadcast* op) override;
  void visit(const Halide::Internal::Call* op) override;
  void visit(const Halide::Internal::Let* op) override;
  void visit(const Halide::Internal::Shuffle* op) override;
  void visit(const Halide::Internal::VectorReduce* op) override;

 private:
  template <typename Node, typename Compute>
  void binary(const Node* op, const Compute& compute);
  void truth(ReductionOp op, const Halide::Expr& left, const Halide::Expr& right);
  void conditional(const Halide::Internal::Call* op);
  void exclusive_or(const Halide::Internal::Call* op);

  Read read_;
  Element element_;
  SymbolicValue result_;
  bool certain_ = true;  ///< what is computed is computed whatever the data are
};

}  // namespace tc::halide_bridge
