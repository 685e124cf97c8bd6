#include "tc/polyhedral/map_grid/cut_into_blocks.h"

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"

namespace tc::polyhedral {

isl::schedule_node cut_into_blocks(const Scop& scop, const isl::schedule_node& node, const CopyBlocks& blocks) {
  const auto& domain = scop.statement(blocks.statement).domain;
  auto band = node;
  while (band.isa<isl::schedule_node_band>()) {
    auto members = band_members(band);
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (only_iterator(members[i], domain) != blocks.iterator) continue;
      auto whole = members[i];
      auto min = values(whole, instances_at(band)).min;
      if (min % blocks.size != 0) throw InternalError("a reduction that is cut into blocks does not start at one");
      members[i] = remainder(whole, blocks.size);
      auto path = path_of(node);
      auto coincident = band_coincident(band);
      auto cut = insert_band(erase(band), members, coincident);
      auto top = node_at(cut.schedule(), path);
      return insert_band(top, {quotient(whole, blocks.size)}, {}).child(0);
    }
    band = band.child(0);
  }
  throw InternalError(str("statement ", blocks.statement, " has no loop of its own to cut into blocks"));
}

}  // namespace tc::polyhedral
