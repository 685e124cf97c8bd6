#pragma once

#include <cstddef>

#include "tc/graph/resolve/minimise.h"

namespace tc::graph {

struct SearchLimits {
  std::size_t most_entries = std::size_t{1} << 22;   ///< of a table of the exact elimination
  std::size_t bound_entries = std::size_t{1} << 12;  ///< of a table of the bounds
  std::size_t most_steps = 300'000;                  ///< assignments that are tried; more until a first choice is found
};

/// minimise() where no table has more than limits.most_entries entries. Otherwise the best choice that a depth-first search finds, which is exact
/// if it ends within limits.most_steps; Choice::bound is then its cost, else a number that no choice costs less than. Variables are assigned in the
/// reverse order of their elimination, the most promising values first. A partial choice is left where its cost, and a lower bound of the rest, is no less
/// than the best so far; the bound is that of mini-buckets (Dechter and Rish, "Mini-buckets", 2003): tables of one variable are
/// joined in groups of at most limits.bound_entries entries, and each group is minimised by itself.
///
///   f(a, b) + g(b, c) + h(b, d), b eliminated     exact: min over b of the sum, a table of (a, c, d)
///                                                 bound: min over b of f + g, a table of (a, c), and min over b of h, one of (d)
///
/// The same problem has the same choice always. Throws ResourceError where no choice of a finite cost is found in ten times the steps.
Choice minimise_within(const ChoiceProblem& problem, const SearchLimits& limits = {});

}  // namespace tc::graph
