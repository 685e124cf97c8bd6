#pragma once

#include <set>
#include <string>
#include <vector>

#include "tc/autodiff/access/isl_text.h"

/// Integer equations between subscripts and coordinates. Private to invert().
namespace tc::autodiff {

/// The name of coordinate \p d while equations are solved.
std::string coordinate_name(std::size_t d);
/// Is \p name one the solver made, for a quotient or a residue?
bool is_made_name(const std::string& name);

struct Solved {
  Renaming values;                       ///< of iterators that are not in `reduction`
  std::vector<IteratorRange> reduction;  ///< what the coordinates do not determine, in the order of the statement
  std::vector<ExprPtr> guards;           ///< ranges of what was solved, divisibility, equations that were left
  std::set<std::size_t> by_guard;        ///< subscripts that are not affine
};

/// Solves subscripts[d] = coordinate d for \p iterators, left ones first.
Solved solve_accesses(const std::vector<IteratorRange>& iterators, const std::vector<ExprPtr>& subscripts);

}  // namespace tc::autodiff
