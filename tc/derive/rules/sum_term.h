#pragma once

#include <optional>
#include <vector>

#include "tc/derive/form/program.h"

/// Sums as terms of what reads them: O(x) = P(x) + 2 * Q(x).
namespace tc::derive {

/// Iterators that a sum may have, whose orders are all tried.
constexpr int most_summed = 4;

/// A term that is a sum times numbers.
struct SumTerm {
  ScopePtr sum;
  isl::multi_aff at;                   ///< the element that is read
  std::vector<lang::ExprPtr> numbers;  ///< other factors
};

/// \p term of \p part as a sum of \p program by \p op that nothing else reads.
std::optional<SumTerm> sum_term(const Program& program, const Case& part, const lang::ExprPtr& term, ReductionOp op);

/// The operator of the sums that a body of \p scope reads: its own, if it is one.
std::optional<ReductionOp> sum_operator(const Program& program, const Scope& scope);

/// How many iterators \p scope sums over.
int summed_count(const Scope& scope);

}  // namespace tc::derive
