#pragma once

#include <cstdint>
#include <vector>

#include "tc/polyhedral/core/cluster_view.h"

namespace tc::polyhedral {

/// \p value - \p origin, where the instances of \p domain are.
isl::union_pw_aff from_origin(const isl::union_pw_aff& value, std::int64_t origin, const isl::union_set& domain);

/// A band of \p loops, each of which has an `index` and says whether it is `coincident`, above \p node; \p node without
/// loops.
template <typename Loop>
isl::schedule_node insert_loops(const isl::schedule_node& node, const std::vector<Loop>& loops) {
  if (loops.empty()) return node;
  std::vector<isl::union_pw_aff> members;
  std::vector<bool> coincident;
  for (const auto& loop : loops) {
    members.push_back(loop.index);
    coincident.push_back(loop.coincident);
  }
  return insert_band(node, members, coincident);
}

}  // namespace tc::polyhedral
