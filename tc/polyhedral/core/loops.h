#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tc/polyhedral/core/cluster_view.h"

namespace tc::polyhedral {

/// \p value - \p origin, where the instances of \p domain are.
isl::union_pw_aff from_origin(const isl::union_pw_aff& value, std::int64_t origin, const isl::union_set& domain);

/// All instances of the statements \p ids of \p scop.
isl::union_set instances_of(const Scop& scop, const std::vector<std::string>& ids);

/// The function that takes the instances of each of the statements \p ids of \p scop to one of their iterators, \p iterator(id).
template <typename Iterator>
isl::union_pw_aff member_of(const Scop& scop, const std::vector<std::string>& ids, const Iterator& iterator) {
  auto result = call(scop.ctx(), isl_union_pw_aff_empty_ctx, scop.ctx().get());
  for (const auto& id : ids) {
    const auto identity = scop.statement(id).domain.space().identity_multi_aff_on_domain();
    result = result.union_add(isl::union_pw_aff(isl::multi_aff(identity).at(iterator(id))));
  }
  return result;
}

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
