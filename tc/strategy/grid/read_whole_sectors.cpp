#include "tc/strategy/grid/read_whole_sectors.h"

#include <algorithm>

#include "tc/base/dtype.h"

namespace tc::strategy {
namespace {

using polyhedral::GridClusterMapping;
using polyhedral::GridCopy;

/// Vectors of a row that neighbouring threads read at once, at most.
constexpr std::int64_t most_beside = 16;

/// Consecutive iterations of \p iterator of statement \p id that a copy has at once.
std::int64_t tile(const GridClusterMapping& mapping, const polyhedral::Scop& scop,
                  const polyhedral::ClusterView& cluster, const std::string& id, int iterator) {
  if (mapping.blocks.statement == id && mapping.blocks.iterator == iterator) return mapping.blocks.size;
  auto extent = polyhedral::box(scop.statement(id).domain).at(iterator).extent();
  for (const auto& entry : cluster.statements)
    for (std::size_t i = 0; entry.id == id && i < mapping.members.size(); ++i)
      if (auto size = mapping.members[i].tile; entry.outer[i] == iterator && size > 0) return std::min(size, extent);
  return extent;
}

}  // namespace

GridClusterMapping read_whole_sectors(GridClusterMapping mapping, const polyhedral::Scop& scop,
                                      const polyhedral::ClusterView& cluster, const GridLimits& limits) {
  for (GridCopy& copy : mapping.copies) {
    if (copy.vector <= 1 || copy.run_along == copy.contiguous) continue;
    const auto& read = scop.statement(copy.statement).reads.at(copy.read);
    auto vector_bytes = copy.vector * byte_size(scop.tensor(polyhedral::range_name(read.relation)).type);
    auto vectors = tile(mapping, scop, cluster, copy.statement, copy.run_along) / copy.vector;
    auto rows = tile(mapping, scop, cluster, copy.statement, copy.contiguous);
    auto sector = limits.sector_bytes / vector_bytes;
    bool even = (vectors & (vectors - 1)) == 0 && vectors <= most_beside;
    if (!even || sector <= 1) continue;
    bool rounds = vectors % sector == 0 && sector * rows % (mapping.block[0] * mapping.block[1]) == 0;
    copy.beside = rounds ? sector : vectors;
  }
  return mapping;
}

}  // namespace tc::strategy
