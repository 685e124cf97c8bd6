#pragma once

#include <optional>
#include <string>
#include <vector>

#include "test/support/random/random_params.h"

/// Ranges of reductions that differ by instance.
namespace tc::test {

/// A parameter whose values are bounds of ranges over one dimension of another tensor.
struct Pointers {
  std::string name;
  std::int64_t count = 0;  ///< elements
  KnownTensor entries;     ///< the tensor that the ranges run over
  std::size_t dimension = 0;
};

/// Adds to \p params parameters with row pointers, or lengths, of dimensions of others: most ascend inside, some do not.
std::vector<Pointers> add_pointers(Random& random, const lang::SizeMap& sizes, const std::string& prefix,
                                   Params& params);

/// Clauses that give the reduction iterator \p id a range between two elements of one of \p all, and a tensor that bounds it:
///
///   r in P(i):P(i+1), exists X(r,0)      r in i:P(i), exists X(r,0)
///
/// The rows are those of one of \p others that fits, else constants. Nothing if no instance would remain below \p max_points.
std::optional<std::vector<lang::Clause>> ragged_range(Random& random, KnownIterator& iterator,
                                                      const std::vector<KnownIterator>& others,
                                                      const std::vector<Pointers>& all);

/// The range of a triangle, r in 0:i+1 or r in i:8, over the values that \p iterator has: \p others are not empty.
lang::Clause triangle(Random& random, const KnownIterator& iterator, const std::vector<KnownIterator>& others);

}  // namespace tc::test
