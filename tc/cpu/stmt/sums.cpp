#include "tc/cpu/stmt/sums.h"

#include "tc/halide_bridge/stmt/strict.h"

namespace tc::cpu {

namespace ir = Halide::Internal;
using Halide::Expr;

Expr added_to(const ir::Store& store) {
  const Expr value = halide_bridge::without_strict(store.value);
  const auto* sum = value.as<ir::Add>();
  const Expr first = sum ? halide_bridge::without_strict(sum->a) : Expr();
  const auto* old = first.defined() ? first.as<ir::Load>() : nullptr;
  return old && old->name == store.name && ir::equal(old->index, store.index) ? sum->b : Expr();
}

}  // namespace tc::cpu
