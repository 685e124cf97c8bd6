#include <ATen/ops/equal.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>

#include "tc/aten/engine.h"

int main() {
  tc::aten::ExecutionEngine engine;
  engine.define("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }");
  const auto a = at::ones({3, 4}), b = at::ones({4, 5});
  return at::equal(engine.call("mm", {a, b}).front(), at::mm(a, b)) ? 0 : 1;
}
