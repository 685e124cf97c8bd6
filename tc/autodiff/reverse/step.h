#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tc/autodiff/forward/forward.h"
#include "tc/autodiff/reverse/adjoint_reads.h"

namespace tc::autodiff {

/// A statement of the backward def: target(left) op value, or the sum of the pieces, each 0 where its conditions fail.
struct Step {
  std::string target;
  DType type = DType::Float32;  ///< of the target
  std::vector<IteratorRange> left, reduction;
  std::optional<ReductionOp> op = {};
  bool initialise = false;
  std::vector<Guarded> pieces = {};  ///< of what gradients add up
  ExprPtr value = nullptr;           ///< of a statement of the forward def, and of statistics of a product; else null
  lang::SourceRange place = {};      ///< in the forward def
  std::vector<lang::OrderedLoop> loops =
      {};  ///< around it; of an adjoint those that in_loops() may put it in, by iterators of `left`
};

/// The value that is stored or added up.
ExprPtr value_of(const Step& step);
/// The statement, its ranges in `where`.
lang::Assignment assignment_of(const Step& step);

/// Does \p step give all elements of its target at once, each from one unguarded value?
bool is_pointwise(const Step& step);
std::set<std::string> reads_of(const Step& step);
/// \p step with every expression in it rewritten.
template <typename F>
Step map_expressions(Step step, F&& rewrite);

/// The operations all instances of \p step take, for loops of usual lengths.
double cost(const Step& step);

template <typename F>
Step map_expressions(Step step, F&& rewrite) {
  if (step.value) step.value = rewrite(step.value);
  for (Guarded& piece : step.pieces) {
    for (ExprPtr& condition : piece.conditions) condition = rewrite(condition);
    piece.value = map_factors(piece.value, rewrite);
  }
  return step;
}

}  // namespace tc::autodiff
