#include "tc/cpu/stmt/mask_sums.h"

#include <string>
#include <utility>
#include <vector>

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

Expr without_strict(const Expr& e) {
  const auto* call = e.as<ir::Call>();
  return call && call->is_intrinsic(ir::Call::strict_float) ? call->args[0] : e;
}

Expr strict(const Expr& e) { return ir::Call::make(e.type(), ir::Call::strict_float, {e}, ir::Call::PureIntrinsic); }

/// A zero that, added to a sum, changes nothing but the sign of another zero.
bool is_zero(const Expr& e) {
  const auto* same = e.as<ir::Broadcast>();
  const auto* number = (same ? same->value : e).as<ir::FloatImm>();
  return number && number->value == 0;
}

class SumMasker : public ir::IRMutator {
 protected:
  using ir::IRMutator::visit;
  Stmt visit(const ir::Store* op) override {
    const Expr value = without_strict(op->value);
    const auto* sum = value.as<ir::Add>();
    const auto* old = sum ? without_strict(sum->a).as<ir::Load>() : nullptr;
    if (!old || !sum->type.is_float() || !sum->type.is_vector()) return op;
    if (old->name != op->name || !ir::equal(old->index, op->index)) return op;
    std::vector<std::pair<std::string, Expr>> lets;
    Expr term = sum->b;
    while (const auto* let = term.as<ir::Let>()) {
      lets.emplace_back(let->name, let->value);
      term = let->body;
    }
    const auto* choice = term.as<ir::Select>();
    if (!choice || !choice->condition.type().is_vector() || !is_zero(choice->false_value)) return op;
    Expr masked = ir::Select::make(choice->condition, ir::Add::make(sum->a, choice->true_value), sum->a);
    for (auto let = lets.rbegin(); let != lets.rend(); ++let) masked = ir::Let::make(let->first, let->second, masked);
    return ir::Store::make(op->name, strict(masked), op->index, op->param, op->predicate, op->alignment);
  }
};

}  // namespace

Stmt mask_sums(const Stmt& body) { return SumMasker().mutate(body); }

}  // namespace tc::cpu
