#pragma once

#include <memory>
#include <vector>

#include "tc/base/cancellation.h"

namespace tc::halide_bridge {

/// Proofs about index conditions in integer arithmetic, by isl. Each has so many operations to spend.
class IndexProver {
 public:
  explicit IndexProver(const Cancellation& cancellation = {});
  ~IndexProver();
  /// A condition that holds in every proof in which one of its variables takes part.
  void assume(const Halide::Expr& condition);
  /// False only if no integer values of all variables fulfil all of \p conditions. What is not affine is taken for an
  /// unknown value, and so are conditions beyond the operations of a proof.
  bool feasible(const std::vector<Halide::Expr>& conditions);
  /// Did the last feasible() give up?
  bool gave_up() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tc::halide_bridge
