#pragma once

#include <vector>

#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// A statement that joins a schedule: above the place where it is inserted it runs in the loops of another statement.
struct Addition {
  Statement statement;
  std::string host;     ///< id of a statement below the place
  isl::multi_aff like;  ///< { New[i] -> Host[j] }: the instance of the host whose loops it shares
  std::vector<isl::multi_union_pw_aff> loops = {};  ///< its own bands below the place, outermost first
  bool behind = false;  ///< one that comes before the node in program order, but stands behind it
};

/// Adds statements to \p scop, in program order and in the schedule, around the node at \p path.
///
///   before  node               after  sequence { before ... } { node } { before, behind ... } { after ... }
///
/// The bands above run the new instances with those of their hosts; of the hosts' ordered loops, the new statements are in those that
/// run above.
Scop surround(const Scop& scop, const std::vector<int>& path, const std::vector<Addition>& before,
              const std::vector<Addition>& after);

}  // namespace tc::polyhedral
