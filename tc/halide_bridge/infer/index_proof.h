#pragma once

#include <Halide.h>

#include <memory>
#include <optional>
#include <string>
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
  /// A condition on \p sizes under which no values of the other variables fulfil all of \p conditions, and the weakest one where
  /// these are affine; only where \p given, conditions on sizes, hold it need be asked. False if there is none. Nothing beyond the
  /// operations of a proof.
  ///
  ///   0 <= d, d < D, d % 2 == 0, d + 1 >= D      given D >= 1      D % 2 == 0
  std::optional<Halide::Expr> condition_against(const std::vector<Halide::Expr>& conditions,
                                                const std::vector<std::string>& sizes,
                                                const std::vector<Halide::Expr>& given);
  /// Did the last feasible() give up?
  bool gave_up() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tc::halide_bridge
