#pragma once

#include <string>
#include <vector>

#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// A node of a schedule and the statements below it, with when they run.
///
///   band [i]  band [j] { S[i, j] }    at the inner band: prefix { S[i, j] -> [i] }, runs { [i] -> S[i, j] }
struct Subtree {
  Subtree(const Scop& scop, const std::vector<int>& path);

  isl::schedule_node node;
  std::vector<std::string> statements;
  isl::union_pw_multi_aff prefix;  ///< { instance -> [iterations of the loops above the node] }
  isl::union_map runs;             ///< its inverse, on the instances below the node
};

/// The node of the points of statement \p id below \p subtree, a leaf or a band above one.
isl::schedule_node points_of(const Subtree& subtree, const std::string& id);

/// An access by its statement and its place among the statement's accesses, the write first.
using AccessPlace = std::pair<std::string, std::size_t>;

/// Calls \p function(place, statement, access) for each access to \p tensor below \p subtree.
template <typename Function>
void for_each_access(const Scop& scop, const Subtree& subtree, const std::string& tensor, const Function& function) {
  for (const auto& id : subtree.statements) {
    const auto& statement = scop.statement(id);
    auto all = accesses(statement);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (touches(*all[i], tensor)) function(AccessPlace{id, i}, statement, *all[i]);
  }
}

}  // namespace tc::polyhedral
