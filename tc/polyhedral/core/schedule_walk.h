#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tc/polyhedral/core/isl.h"

namespace tc::polyhedral {

/// A node of a schedule tree and how execution gets there. Unlike isl's own prefix functions, extension nodes count:
/// the instances they add are in `prefix`, at the members they are added for.
struct Place {
  /// One step of the path: the child of a sequence or set, or the members of a band.
  struct Step {
    bool is_child = false;
    int value = 0;  ///< index of the child, number of members
    bool operator==(const Step&) const = default;
  };

  isl::schedule_node node;
  isl::union_set instances;  ///< that reach the node
  isl::union_map prefix;     ///< { instance -> [members of all outer bands] }
  std::vector<Step> path;    ///< from the root

  int members() const;  ///< of all outer bands
};

/// Calls \p visit for every node of \p schedule, leaves included, from the root down.
void for_each_place(const isl::schedule& schedule, const std::function<void(const Place&)>& visit);

/// The names of the marks above \p node, from the root on.
std::vector<std::string> marks_above(isl::schedule_node node);

/// { instance -> [t] }: when each instance runs in the sequential order of \p schedule, by lexicographic order: members
/// of bands and indices of children down to the leaf, filled with zeros to one length.
///
///   band [i] { S } { T: band [j] }      S[i] -> [i, 0, 0]; T[i, j] -> [i, 1, j]
isl::union_map sequential_time(const isl::schedule& schedule);

/// The pairs of \p pairs, { instance -> instance }, whose first instance runs strictly before the second in \p
/// schedule.
isl::union_map forward_pairs(const isl::schedule& schedule, const isl::union_map& pairs);

}  // namespace tc::polyhedral
