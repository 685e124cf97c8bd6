#pragma once

#include <cstddef>
#include <vector>

namespace tc::graph {

/// What each choice of values for some variables costs: `cost` has an entry for each, in row-major order. Infinity where a
/// choice is not allowed.
struct CostTable {
  std::vector<std::size_t> variables;
  std::vector<double> cost;
};

/// A sum of tables to be made small: variable v takes one of values[v] values, counted from 0.
struct ChoiceProblem {
  std::vector<std::size_t> values;
  std::vector<CostTable> tables;
};

/// A value for each variable, what they cost together, and a number that no choice costs less than: the same for an exact choice.
struct Choice {
  std::vector<std::size_t> values;
  double cost = 0;
  double bound = 0;
};

/// A choice of least cost, exact: variables are eliminated one by one, that with the smallest table first (bucket
/// elimination), in time exponential in the width of the problem only. The same problem has the same choice always.
/// Throws ResourceError where a table would have more than \p most_entries entries.
Choice minimise(const ChoiceProblem& problem, std::size_t most_entries = std::size_t{1} << 22);

}  // namespace tc::graph
