#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tc/derive/form/program.h"

namespace tc::derive {

/// Dimensions of a flat instance that are those of one scope.
struct Segment {
  std::string tensor;  ///< what that scope defines
  int first = 0, count = 0;
};

/// Instances of a tensor whose definition is written out: the dimensions of its own scope, then those of each scope
/// whose element is read, in the order in which reads are written out, the first first.
struct FlatCase {
  isl::set domain;
  isl::multi_aff writes;
  lang::ExprPtr body;
  std::vector<Read> reads;  ///< those that are left stand in the body
  std::vector<Segment> segments;
};

/// A tensor as one sum of products of elements of `atoms` and inputs.
struct Flat {
  std::optional<ReductionOp> op;  ///< nothing: one instance an element
  std::optional<double> fill;     ///< of elements without an instance; nothing: each has one
  std::vector<FlatCase> cases;
};

/// What becomes of sums in bodies: they stay, or each of their terms() is a case.
enum class Sums : std::uint8_t { Kept, MultipliedOut };

/// The definition of \p tensor in \p program, in which every read of a tensor that is neither an input nor among
/// \p atoms is replaced by what defines that tensor:
///
///   T(r, x) = Σ_c a    O(x) = Σ_r T(r, x) * b(r)       O: { [x, r, r', x', c] : r' = r, x' = x }, body a * b(r)
///
/// Right by distributivity: a sum is written out where it is a factor of a body that is summed by the same operator.
/// Where the element has no instance, its fill stands for it: none is left where that annihilates. Throws Refusal where
/// a sum stands in anything else.
///
/// Multiplied out, a sum may stand in a term, too:
///
///   P(x) = Σ_k a   Q(x) = Σ_k b   O(x) = P(x) + Q(x)        O: { [x, x', k] }, body a, and { [x, x', k] }, body b
Flat flatten(const Program& program, const std::string& tensor, const std::set<std::string>& atoms,
             Sums sums = Sums::Kept);

}  // namespace tc::derive
