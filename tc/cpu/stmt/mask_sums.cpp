#include "tc/cpu/stmt/mask_sums.h"

#include <string>
#include <utility>
#include <vector>

#include "tc/cpu/stmt/sums.h"
#include "tc/halide_bridge/stmt/strict.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

class SumMasker : public ir::IRMutator {
 protected:
  using ir::IRMutator::visit;
  Stmt visit(const ir::Store* op) override {
    Expr term = added_to(*op);
    if (!term.defined() || !term.type().is_float() || !term.type().is_vector()) return op;
    std::vector<std::pair<std::string, Expr>> lets;
    while (const auto* let = term.as<ir::Let>()) {
      lets.emplace_back(let->name, let->value);
      term = let->body;
    }
    const auto* choice = term.as<ir::Select>();
    if (!choice || !choice->condition.type().is_vector() || !ir::is_const_zero(choice->false_value)) return op;
    const Expr sum = halide_bridge::without_strict(op->value).as<ir::Add>()->a;
    Expr masked = ir::Select::make(choice->condition, ir::Add::make(sum, choice->true_value), sum);
    for (auto let = lets.rbegin(); let != lets.rend(); ++let) masked = ir::Let::make(let->first, let->second, masked);
    return ir::Store::make(op->name, halide_bridge::strict(masked), op->index, op->param, op->predicate, op->alignment);
  }
};

}  // namespace

Stmt mask_sums(const Stmt& body) { return SumMasker().mutate(body); }

}  // namespace tc::cpu
