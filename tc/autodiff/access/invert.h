#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tc/autodiff/access/isl_text.h"

namespace tc::autodiff {

/// A read tensor(subscripts) of a statement, where it happens: iterators in ranges, all conditions true.
struct ReadAccess {
  std::vector<IteratorRange> iterators;  ///< of the statement, those on its left first
  std::vector<ExprPtr> subscripts;
  std::vector<ExprPtr> conditions;
};

/// The instances of a read by the element it touches: one for each value of the coordinates and of the reduction
/// iterators for which the guards hold.
///
///   I(h + kh)     h := y - kh          ranges kh         guards y - kh >= 0, y - kh < H - KH + 1
///   I(2*h + kh)   h := y/2 - q, kh := 2*q + y%2         ranges q, (KH+1)/2 of them, guards for h and kh
///   T(index(l))   l := l               ranges l          guard index(l) == e
struct Inverse {
  std::vector<std::string> coordinates;  ///< one for each subscript
  std::vector<IteratorRange> reduction;  ///< iterators that the element does not determine
  Renaming values;                       ///< of the statement's iterators
  std::vector<ExprPtr> guards;           ///< ranges of what was solved, divisibility, the conditions of the read
  std::set<std::size_t> by_guard;        ///< subscripts that a guard compares with the coordinate
};

/// How names are chosen.
struct InverseNames {
  const std::set<std::string>& taken;  ///< by tensors, sizes, defs and built-ins
};

/// Solves subscripts = coordinates for the iterators, by steps that are equivalences over the integers. A subscript that
/// is not affine in iterators with constant factors, or reads data, becomes a guard.
Inverse invert(const ReadAccess& read, const InverseNames& names);

/// A subscript that is an iterator plus a constant, as those of a loop are.
struct FixedSubscript {
  std::size_t dimension = 0;
  std::string iterator;
  std::int64_t distance = 0;
};

/// The inverse in which the subscripts \p fixed alone give their iterators, the others are solved for the others: by guards only, if
/// \p by_guards.
///
///   H(t - 1, n + k)     t := t + 1     n := p - k     guards t + 1 < T, p - k in 0:N
Inverse invert_around(const ReadAccess& read, const std::vector<FixedSubscript>& fixed, const InverseNames& names,
                      bool by_guards);

/// The inverse that always exists: every iterator stays, subscript == coordinate are the guards. Right, and slow.
Inverse invert_by_guards(const ReadAccess& read, const InverseNames& names);

}  // namespace tc::autodiff
