#include "tc/cpu/stmt/sums.h"

namespace tc::cpu {

namespace ir = Halide::Internal;
using Halide::Expr;

Expr without_strict(const Expr& e) {
  const auto* call = e.as<ir::Call>();
  return call && call->is_intrinsic(ir::Call::strict_float) ? call->args[0] : e;
}

Expr added_to(const ir::Store& store) {
  const Expr value = without_strict(store.value);
  const auto* sum = value.as<ir::Add>();
  const Expr first = sum ? without_strict(sum->a) : Expr();
  const auto* old = first.defined() ? first.as<ir::Load>() : nullptr;
  return old && old->name == store.name && ir::equal(old->index, store.index) ? sum->b : Expr();
}

bool is_zero(const Expr& e) { return ir::is_const_zero(e); }

}  // namespace tc::cpu
