#pragma once

#include <memory>
#include <vector>

#include "tc/halide_bridge/convert_expr.h"

namespace tc::halide_bridge {

/// Proofs about index conditions in integer arithmetic, by isl.
class IndexProver {
 public:
  IndexProver();
  ~IndexProver();
  /// Conditions that hold in every proof.
  void assume(const Halide::Expr& condition);
  /// False only if no integer values of all variables fulfil all of \p conditions. What is not affine is taken for an
  /// unknown value.
  bool feasible(const std::vector<Halide::Expr>& conditions);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tc::halide_bridge
