#pragma once

#include <vector>

#include "tc/library/match/computation.h"

namespace tc::library {

/// Iterators that belong together: those of a result, or those of one reduction.
struct ScopePair {
  std::vector<int> given, routine;
};
struct ReadPair {
  Read given, routine;
};
struct ConditionsPair {
  Conditions given, routine;
};

/// How an expression is that of a routine, but for what iterators and subscripts are.
struct Pairing {
  std::vector<ScopePair> scopes;  ///< that of the result is not among them
  std::vector<ReadPair> reads;
  std::vector<ConditionsPair> conditions;
};

/// All ways in which \p given has the form of \p routine: the same operators and reductions, constants alike, reads
/// where it has reads. Operands of operators that commute may stand in either order.
///
///   given  sum(r4) X(i0 + r4) * W(r4)    routine  sum(k2) A(m0, k2) * B(k2, n1)      (X, A) (W, B) and (X, B) (W, A)
std::vector<Pairing> pair_up(const NodePtr& given, const NodePtr& routine);

}  // namespace tc::library
