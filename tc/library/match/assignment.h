#pragma once

#include <map>
#include <vector>

#include "tc/library/match/problem.h"

namespace tc::library {

/// Which iterator of a user's def is which of a routine's.
struct Assignment {
  std::map<int, Counter> of_routine;  ///< by iterators of the routine; the others have extent 1
  std::vector<Counter> loops;         ///< around the routine
  /// Pairs of counters that share a subscript where the routine's iterators do not, or the other way round; and counters that take
  /// each second element, say, where the routine takes all.
  int mismatches = 0;
};

/// The ways to give each counter of \p problem an iterator of \p routine that runs through the same operands, or where
/// \p loops, a loop around it: the most natural first, with few loops, and with iterators that share a subscript where
/// the routine's share one.
std::vector<Assignment> assignments(const Problem& problem, const Pairing& pairing, const Computation& routine,
                                    bool loops);

}  // namespace tc::library
