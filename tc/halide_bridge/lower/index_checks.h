#pragma once

#include <set>
#include <string>
#include <vector>

#include "tc/halide_bridge/lower/lower_expr.h"

namespace tc::halide_bridge {

/// The statements that compute one flag, to be run before the statement whose subscript they check.
struct CheckStep {
  ProgramStatement initialise, update;
  std::string message;
  int level = 0;  ///< runs after the checks of lower levels of its statement have passed: they guard its own reads
  std::set<std::string> reads;  ///< tensors
};

/// The checks of the data-dependent subscripts of \p assignment in \p scope.
///
///   before  O(i) = i < N ? T(X(i)) : 0     after  flag = false
///                                                 flag ||= i < N ? uint64(X(i)) >= 10 : false
///
/// An access is checked if it is one of \p data_dependent or has an access in a subscript, in each dimension whose
/// subscript may leave the tensor. A check runs over the iterators that occur in it, in the order of \p iterators, under \p
/// conditions, as ProgramStatement::conditions. The
/// flags have no names yet. `exists j in P(r):P(r+1)` is checked, too, and before the checks that run over j, so that these take time
/// in proportion to the entries:
///
///   before  exists j in P(r):P(r+1)        after  flag ||= P(r) < 0 || P(r+1) > N || P(r) > P(r+1)       0:N is the range of j
///
/// unless the statement has no instances. Accesses in `exists` are checked as well; if not \p runs, they alone, unless one of the
/// iterators that occur in them has no values.
std::vector<CheckStep> index_checks(const lang::Assignment& assignment, const std::vector<std::string>& iterators,
                                    const std::vector<Halide::Expr>& conditions,
                                    const std::set<const lang::Expr*>& data_dependent, const ExprScope& scope,
                                    bool runs);

}  // namespace tc::halide_bridge
