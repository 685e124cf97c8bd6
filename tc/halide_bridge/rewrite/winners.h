#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/halide_bridge/lower/program.h"

/// Stores as the choice of a winner for each element, for scatter_stores.
namespace tc::halide_bridge {

/// The choice, for each element, of the last value of one iterator among the instances that name the element:
///
///   W(q) max= if_then_else(p(i,k) == q && V(p(i,k)) == i, k, lowest)       iterator k, iterators {i, k}, matches {q: p(i,k)}, earlier {V(...)}
struct Winner {
  std::string tensor;
  std::string iterator;  ///< "": there is none, the value is 0 for elements that are named
  const ProgramStatement* update;
  std::map<std::string, Halide::Expr> matches;  ///< iterators of the elements, and what names them
  std::vector<std::pair<const Halide::Internal::Call*, std::string>>
      earlier;                         ///< reads of the winners of other iterators
  std::vector<std::string> iterators;  ///< all that the update reduces over
};

/// The choice that \p update, a maximum, makes; nothing for another one.
std::optional<Winner> winner_of(const ProgramStatement& update);

/// The read of W in \p condition, W(...) != lowest; null for another one.
const Halide::Internal::Call* won_in(const Halide::Expr& condition);

/// The tensors that \p statement reads, but its accumulator.
std::set<std::string> tensors_read(const ProgramStatement& statement);

/// Are the expressions equal, one by one?
bool are_equal(const std::vector<Halide::Expr>& a, const std::vector<Halide::Expr>& b);

}  // namespace tc::halide_bridge
