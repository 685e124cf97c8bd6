#pragma once

#include <string>
#include <vector>

#include "tc/proof/isl.h"

/// The order in which a schedule tree runs its instances: bands by their members, lexicographically, sequences by the position
/// of the child.
namespace tc::proof {

/// The pairs of \p pairs, { instance -> instance }, whose first instance runs strictly before the second.
isl::union_map forward(const isl::schedule& schedule, const isl::union_map& pairs);
/// The same where threads of a `parallel` loop, and lanes of a `vector`, run at once.
isl::union_map forward_in_any_run(const isl::schedule& schedule, const isl::union_map& pairs);
/// The pairs whose first instance does not run strictly before the second.
isl::union_map not_forward(const isl::schedule& schedule, const isl::union_map& pairs);

/// A mark of the tree.
struct Mark {
  std::string name;
  isl::schedule_node node;   ///< below the mark
  isl::union_set instances;  ///< that reach it
  isl::union_map prefix;     ///< { instance -> [members of the bands above] }
};
/// All marks, from the root down.
std::vector<Mark> marks_of(const isl::schedule& schedule);

/// Throws Refusal unless each instance of \p domain, and nothing else, runs at exactly one leaf; Undecided for kinds of nodes that no
/// schedule of a processor has.
void check_tree(const isl::schedule& schedule, const isl::union_set& domain);

}  // namespace tc::proof
