#include "tc/strategy/cpu/choose_lines.h"

#include "tc/base/dtype.h"
#include "tc/polyhedral/core/instances.h"

namespace tc::strategy {

polyhedral::ClusterMapping choose_lines(const ClusterFacts& facts, const VectorChoice& lanes,
                                        const polyhedral::ClusterMapping& mapping) {
  auto result = mapping;
  const auto& heaviest = facts.heaviest;
  for (const auto* access : polyhedral::accesses(facts.statement(heaviest))) {
    auto along = polyhedral::stride(facts.scop, *access, lanes.iterator);
    if (along == 0 || along == 1 || along == polyhedral::unknown_stride) continue;
    auto line = Target::cache_line / byte_size(facts.scop.tensor(polyhedral::range_name(access->relation)).type);
    for (int i = 0; i < facts.member_count(); ++i) {
      int iterator = heaviest.outer[i];
      if (iterator < 0 || polyhedral::stride(facts.scop, *access, iterator) != 1 || result.members[i].points > 1)
        continue;
      if (facts.extent(i, result) <= line) continue;
      result.members[i].points = line;
      result.register_tile = heaviest.inner.empty() && lanes.lanes <= facts.target.vector_registers();
    }
  }
  return result;
}

}  // namespace tc::strategy
