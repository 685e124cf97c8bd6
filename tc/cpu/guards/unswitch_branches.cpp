#include "tc/cpu/guards/unswitch_branches.h"

#include <optional>
#include <vector>

#include "tc/cpu/guards/conjunctions.h"
#include "tc/cpu/guards/varies.h"
#include "tc/halide_bridge/stmt/flatten.h"

namespace tc::cpu {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;
using ir::Stmt;
using Truth = Conjunctions::Truth;

/// So many loops at most for the cases of one, and so many stores in all of them.
constexpr std::size_t most_loops = 16;
constexpr std::size_t most_stores = 256;

/// The loops and stores of a statement.
class Contents : public ir::IRVisitor {
 public:
  explicit Contents(const Stmt& stmt) { stmt.accept(this); }
  std::size_t loops = 0, stores = 0;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::For* op) override {
    ++loops;
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Store*) override { ++stores; }
};

/// The largest value of \p expr, where that is a remainder: the least is 0.
std::optional<std::int64_t> largest_remainder(const Expr& expr) {
  const auto* remainder = expr.as<ir::Mod>();
  const auto* divisor = remainder ? ir::as_const_int(remainder->b) : nullptr;
  return divisor && *divisor > 0 ? std::optional(*divisor - 1) : std::nullopt;
}

/// \p condition as an order where it asks for the least or the largest value of a remainder.
///
///   x % 8 != 0    1 <= x % 8              x % 8 == 7    7 <= x % 8
Expr ordered(const Expr& condition) {
  const auto* differs = condition.as<ir::NE>();
  if (differs && ir::is_const_zero(differs->b) && largest_remainder(differs->a))
    return ir::LE::make(ir::make_one(differs->a.type()), differs->a);
  const auto* equals = condition.as<ir::EQ>();
  const auto largest = equals ? largest_remainder(equals->a) : std::nullopt;
  if (largest && ir::is_const(equals->b, *largest)) return ir::LE::make(equals->b, equals->a);
  return condition;
}

/// A statement of a loop, and the condition of a branch that the loop does not change; undefined for none.
struct Part {
  Stmt stmt;
  Expr condition;

  /// What is left where the condition has \p truth.
  Stmt decided(Truth truth) const {
    const auto* branch = condition.defined() ? stmt.as<ir::IfThenElse>() : nullptr;
    if (!branch) return stmt;
    return truth == Truth::Holds ? branch->then_case : branch->else_case;
  }
};

std::vector<Part> parts_of(const ir::For& loop) {
  std::vector<Stmt> stmts;
  halide_bridge::flatten(loop.body, stmts);
  std::vector<Part> parts;
  for (const auto& stmt : stmts) {
    const auto* branch = stmt.as<ir::IfThenElse>();
    const bool fits = branch && !Varies(branch->condition, loop.name).result;
    parts.push_back({stmt, fits ? ordered(branch->condition) : Expr()});
  }
  return parts;
}

/// \p loop in the cases of its branches.
class Cases {
 public:
  Cases(const ir::For& loop, std::vector<Part> parts)
      : loop_(loop), parts_(std::move(parts)), conjunctions_(conditions(parts_)) {}

  /// Nothing where there are none, or too many.
  std::optional<Stmt> unswitched() {
    const auto none = conjunctions_.none();
    const auto count = conjunctions_.cases(none, most_loops);
    if (none.empty() || count > most_loops) return std::nullopt;
    auto result = below(none);
    return Contents(result).stores <= most_stores ? std::optional(result) : std::nullopt;
  }

 private:
  static std::vector<Expr> conditions(const std::vector<Part>& parts) {
    std::vector<Expr> result;
    for (const auto& part : parts) result.push_back(part.condition);
    return result;
  }

  Stmt below(const Conjunctions::Decisions& decisions) const {
    if (const auto c = conjunctions_.next(decisions)) {
      const auto next = [&](bool holds) { return below(conjunctions_.with(decisions, *c, holds)); };
      return ir::IfThenElse::make(conjunctions_.comparison(*c), next(true), next(false));
    }
    std::vector<Stmt> body;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (const auto left = parts_[i].decided(conjunctions_.of_condition(i, decisions)); left.defined())
        body.push_back(left);
    if (body.empty()) return ir::Evaluate::make(0);
    return ir::For::make(loop_.name, loop_.min, loop_.extent, loop_.for_type, loop_.device_api, ir::Block::make(body));
  }

  const ir::For& loop_;
  const std::vector<Part> parts_;
  const Conjunctions conjunctions_;
};

class BranchUnswitcher : public ir::IRMutator {
 private:
  using ir::IRMutator::visit;
  Stmt visit(const ir::For* op) override {
    if (op->for_type != ir::ForType::Serial || Contents(op->body).loops > 0) return ir::IRMutator::visit(op);
    const auto result = Cases(*op, parts_of(*op)).unswitched();
    return result ? *result : Stmt(op);
  }
};

}  // namespace

Stmt unswitch_branches(const Stmt& stmt) { return BranchUnswitcher().mutate(stmt); }

}  // namespace tc::cpu
