#include "tc/strategy/cpu/tiled_reduction.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/count_product.h"
#include "tc/polyhedral/map_cpu/pack.h"

namespace tc::strategy {

using polyhedral::PackMapping;

ReductionView::ReductionView(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                             const TiledReduction& tiled, const Target& target,
                             const polyhedral::MappingOptions& options, const polyhedral::ClusterMapping& mapping)
    : scop(scop),
      cluster(cluster),
      entry(tiled.entry),
      rows(tiled.rows),
      columns(tiled.columns),
      statement(scop.statement(tiled.entry.id)),
      target(target),
      options(options),
      mapping(mapping),
      box(polyhedral::box(statement.domain)),
      matrices(mapping.dot.of_matrices()) {
  for (const auto& loop : entry.inner) {
    reduced.push_back(loop.iterator);
    volume = count_product(volume, loop.iterator >= 0 ? box[loop.iterator].extent() : 1);
  }
  const auto& element = matrices ? statement.reads.at(0) : statement.write;
  for (int read = 0; read < read_count(); ++read) {
    indices_.push_back(polyhedral::index_iterators(statement, read));
    strides_.emplace_back();
    for (std::size_t i = 0; i < box.size(); ++i)
      strides_.back().push_back(polyhedral::stride(scop, statement.reads[read], static_cast<int>(i)));
  }
  element_bytes = byte_size(scop.tensor(polyhedral::range_name(element.relation)).type);
}

std::int64_t ReductionView::in_block(int member) const {
  auto block = mapping.members[member].block;
  return block > 0 ? block : extent(member);
}

std::vector<int> ReductionView::others() const {
  std::vector<int> result;
  for (int member = 0; member < member_count(); ++member)
    if (member != rows && member != columns) result.push_back(member);
  return result;
}

bool ReductionView::is_packed(bool below_blocks) const {
  return std::any_of(mapping.packed.begin(), mapping.packed.end(),
                     [&](const PackMapping& p) { return p.below_blocks == below_blocks && !p.once; });
}

bool ReductionView::indexes_copy(int member, bool below_blocks) const {
  return std::any_of(mapping.packed.begin(), mapping.packed.end(),
                     [&](const PackMapping& p) { return p.below_blocks == below_blocks && indexes(p.read, member); });
}

std::int64_t ReductionView::inner_volume(int iterator) const {
  return std::max<std::int64_t>(volume / not_zero(box[iterator].extent()), 1);
}

std::int64_t ReductionView::depth() const {
  const auto& cut = mapping.reduction;
  return cut.iterator < 0 ? volume : count_product(inner_volume(cut.iterator), cut.size);
}

std::int64_t ReductionView::iterations_in(std::int64_t bytes) const {
  return std::max<std::int64_t>(bytes / not_zero(count_product(depth(), element_bytes)), 1);
}

}  // namespace tc::strategy
