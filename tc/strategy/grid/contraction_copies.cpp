#include "tc/strategy/grid/contraction_copies.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/count_product.h"
#include "tc/base/dtype.h"
#include "tc/polyhedral/core/indirect_reads.h"
#include "tc/polyhedral/map/copy_dimensions.h"
#include "tc/strategy/cost/vector_runs.h"
#include "tc/strategy/grid/block_threads.h"
#include "tc/strategy/grid/copy_gathers.h"

namespace tc::strategy {
namespace {

using polyhedral::Access;
using polyhedral::GridClusterMapping;
using polyhedral::GridCopy;

/// Iterations of the longest loop of the reduction between two barriers, at least.
constexpr std::int64_t shortest_block = 4;
/// Cycles from asking memory for an element to having it, and multiply-adds of a multiprocessor in one.
constexpr std::int64_t latency = 800, products_a_cycle = 128;
/// Of copies that wait in the registers of a thread, at most.
constexpr std::int64_t most_held_bytes = 32;
/// Bytes that an asynchronous copy moves at once, at most.
constexpr std::int64_t widest_copy = 16;
/// Blocks in shared memory at most.
constexpr std::int64_t most_slots = 4;

/// Iterations of \p iterator in a tile of one block of the reduction.
std::int64_t tile(const ContractionView& view, const GridClusterMapping& mapping, int iterator) {
  for (std::size_t i = 0; i < view.cluster.members.size(); ++i)
    if (view.iterator(static_cast<int>(i)) == iterator) return mapping.members[i].tile;
  return iterator == mapping.blocks.iterator ? mapping.blocks.size : view.extent(iterator);
}

/// What a copy of \p read has in one block.
std::int64_t block_elements(const ContractionView& view, const GridClusterMapping& mapping, int read) {
  std::int64_t result = 1;
  for (const auto& dimension : polyhedral::copy_dimensions(view.update(), read))
    result *= dimension.extent([&](int j) { return tile(view, mapping, j); });
  return result;
}
std::int64_t block_bytes(const ContractionView& view, const GridClusterMapping& mapping, int read) {
  const auto& tensor = view.scop.tensor(polyhedral::range_name(view.update().reads.at(read).relation));
  return block_elements(view, mapping, read) * byte_size(tensor.type);
}

/// The reduction's longest loop in blocks, the shorter the more iterations stand below it.
polyhedral::GridBlocks reduction_blocks(const ContractionView& view) {
  int longest = -1;
  for (int i : view.reduced)
    if (longest < 0 || view.extent(i) > view.extent(longest)) longest = i;
  const auto given = view.options.reduction_block;
  auto size = given > 0 ? given : block_size;
  std::int64_t below = 1;
  for (int i : view.reduced)
    if (i != longest) below = count_product(below, view.extent(i));
  while (given == 0 && size > shortest_block && size * below > 4 * block_size) size /= 2;
  if (view.extent(longest) <= size || view.ranges.at(longest).min % size != 0) return {};
  return {view.update().id, longest, size};
}

/// Do rows of the tensor start at multiples of \p elements?
bool is_aligned_row(const ContractionView& view, const Access& access, int along, std::int64_t elements) {
  if (!access.exact) return is_aligned(view.scop, view.update(), access, along, elements);
  return has_rows_of(view.scop.tensor(polyhedral::range_name(access.relation)), elements);
}

/// Does the copy read \p elements at once along iterator \p j?
bool reads_at_once(const ContractionView& view, const GridClusterMapping& mapping, const Access& access, int j,
                   std::int64_t elements) {
  bool whole = view.ranges.at(j).is_multiple_of(elements) && tile(view, mapping, j) % elements == 0 &&
               view.ranges.at(j).min == 0;
  return whole && polyhedral::known_stride(view.scop, access, j) == 1 && is_aligned_row(view, access, j, elements);
}

/// Can the machine make the copy without registers, neighbouring threads neighbouring elements?
bool comes_by_itself(const ContractionView& view, const GridCopy& copy) {
  const auto& read = view.update().reads.at(copy.read);
  bool whole_words = byte_size(view.scop.tensor(polyhedral::range_name(read.relation)).type) >= 4;
  return view.limits.asynchronous_copies && whole_words && (copy.vector == 1 || copy.run_along == copy.contiguous) &&
         polyhedral::known_stride(view.scop, read, copy.contiguous) == 1;
}

GridCopy copy_of(const ContractionView& view, const GridClusterMapping& mapping, int read) {
  GridCopy result{view.update().id, read};
  const auto& access = view.update().reads.at(read);
  result.contiguous = view.iterator(view.depends_on(read, view.iterator(view.columns)) ? view.columns : view.rows);
  for (const auto& dimension : polyhedral::copy_dimensions(view.update(), read)) {
    int j = dimension.iterator;
    if (j < 0) continue;
    if (!reads_at_once(view, mapping, access, j, 4)) continue;
    result.run_along = j;
    result.vector = 4;
  }
  if (comes_by_itself(view, result)) result.way = GridCopy::Way::Asynchronous;
  return result;
}

/// Are all tiles and blocks full, and copies boxes of the tensor? Others need so many conditions that copies do not
/// run ahead.
bool are_whole(const ContractionView& view, const GridClusterMapping& mapping) {
  auto is_box = [&](const GridCopy& copy) {
    const auto& read = view.update().reads[copy.read];
    auto index = polyhedral::copy_dimensions(view.update(), copy.read);
    if (!read.exact && !view.update().domain.is_subset(read.relation.domain())) return false;
    return std::all_of(index.begin(), index.end(), [](const auto& dimension) { return dimension.iterator >= 0; });
  };
  return !mapping.separate && view.ranges.at(mapping.blocks.iterator).is_multiple_of(mapping.blocks.size) &&
         std::all_of(mapping.copies.begin(), mapping.copies.end(), is_box);
}

/// What wait in the registers of a thread while a block is computed.
std::int64_t held_bytes(const ContractionView& view, const GridClusterMapping& mapping) {
  std::int64_t total = 0;
  for (const auto& copy : mapping.copies)
    if (copy.way == GridCopy::Way::Registers) total += block_bytes(view, mapping, copy.read);
  return total / (mapping.block[0] * mapping.block[1] * mapping.block[2]);
}

/// What the copies take with \p slots blocks at once.
std::int64_t shared_bytes(const ContractionView& view, const GridClusterMapping& mapping, std::int64_t slots) {
  std::int64_t total = 0;
  for (const auto& copy : mapping.copies)
    total += block_bytes(view, mapping, copy.read) *
             (copy.way == GridCopy::Way::Asynchronous ? slots : std::min<std::int64_t>(slots, 2));
  return total;
}

/// How many rows or columns of a tile read the same element.
std::int64_t reuse(const ContractionView& view, const GridClusterMapping& mapping, int read) {
  int along = view.depends_on(read, view.iterator(view.rows)) ? view.columns : view.rows;
  return tile(view, mapping, view.iterator(along));
}

bool is_subscript_of(const ContractionView& view, int read, int other) {
  const auto& access = view.update().reads[other];
  return !access.exact && read < other && other - access.indirection->subscript_reads <= read;
}

}  // namespace

GridClusterMapping choose_copies(const ContractionView& view, const GridClusterMapping& mapping) {
  auto result = mapping;
  result.blocks = reduction_blocks(view);
  result.shared_bytes = strategy::shared_bytes(view.limits, view.options);
  auto room = result.shared_bytes;
  for (int read = 0; read < view.reads(); ++read) {
    if (!view.is_copied(read)) continue;
    auto bytes = block_bytes(view, result, read);
    if (bytes > room) continue;
    room -= bytes;
    result.copies.push_back(copy_of(view, result, read));
  }
  if (result.copies.empty()) result.blocks = {};
  return result;
}

std::optional<GridClusterMapping> with_asynchronous_copies(const ContractionView& view, GridClusterMapping mapping) {
  mapping.shared_bytes = view.options.shared_bytes > 0 ? strategy::shared_bytes(view.limits, view.options)
                                                       : view.limits.block_shared_bytes_requested;
  for (int read = 0; read < view.reads(); ++read) {
    const auto& access = view.update().reads[read];
    auto elements = widest_copy / byte_size(view.scop.tensor(polyhedral::range_name(access.relation)).type);
    GridCopy copy{view.update().id, read};
    for (const auto& dimension : polyhedral::copy_dimensions(view.update(), read))
      if (dimension.iterator >= 0 && reads_at_once(view, mapping, access, dimension.iterator, elements))
        copy.contiguous = copy.run_along = dimension.iterator;
    if (copy.contiguous < 0) return std::nullopt;
    copy.vector = elements;
    copy.way = GridCopy::Way::Asynchronous;
    mapping.copies.push_back(copy);
  }
  if (shared_bytes(view, mapping, mapping.blocks.slots) > mapping.shared_bytes) return std::nullopt;
  return mapping;
}

bool leaves_gathers(const ContractionView& view, const GridClusterMapping& mapping) {
  for (int read = 0; read < view.reads(); ++read) {
    if (view.update().reads[read].exact || view.is_subscript(read) || !view.is_shared(read)) continue;
    bool copied = std::any_of(mapping.copies.begin(), mapping.copies.end(),
                              [&](const GridCopy& copy) { return copy.read == read; });
    if (!copied || reuse(view, mapping, read) < least_reuse(view.options)) return true;
  }
  return false;
}

GridClusterMapping choose_slots(const ContractionView& view, const GridClusterMapping& mapping) {
  if (mapping.blocks.iterator < 0 || !are_whole(view, mapping)) return mapping;
  auto result = mapping;
  auto& blocks = result.blocks;
  while (view.options.reduction_block == 0 && blocks.size > shortest_block &&
         held_bytes(view, result) > most_held_bytes)
    blocks.size /= 2;
  auto count = ceil_div(view.extent(blocks.iterator), blocks.size);
  auto results = result.members[view.rows].tile * result.members[view.columns].tile;
  auto cycles = std::max<std::int64_t>(1, results * blocks.size / products_a_cycle);
  auto wish = std::min({1 + ceil_div(latency, cycles), most_slots, count});
  bool asynchronous = std::any_of(result.copies.begin(), result.copies.end(),
                                  [](const GridCopy& copy) { return copy.way == GridCopy::Way::Asynchronous; });
  if (!asynchronous) wish = std::min<std::int64_t>(wish, 2);
  while (wish > 1 && !view.fills(wish, blocks.iterator, blocks.size)) --wish;
  while (wish > 1 && shared_bytes(view, result, wish) > result.shared_bytes) --wish;
  blocks.slots = static_cast<int>(std::max<std::int64_t>(wish, 1));
  return result;
}

GridClusterMapping copy_subscripts(const ContractionView& view, const GridClusterMapping& mapping) {
  if (mapping.blocks.slots > 1) return mapping;
  auto result = mapping;
  auto room = mapping.shared_bytes;
  for (const auto& copy : mapping.copies) room -= block_bytes(view, mapping, copy.read);
  result.copies.clear();
  for (const auto& copy : mapping.copies) {
    for (int read = 0; read < copy.read; ++read) {
      if (!is_subscript_of(view, read, copy.read)) continue;
      auto index = polyhedral::copy_dimensions(view.update(), read);
      if (index.empty()) continue;
      auto uses = block_elements(view, mapping, copy.read) / copy.vector / block_elements(view, mapping, read);
      if (uses < least_reuse(view.options) || block_bytes(view, mapping, read) > room) continue;
      room -= block_bytes(view, mapping, read);
      result.copies.push_back({view.update().id, read, index.back().iterator});
    }
    result.copies.push_back(copy);
  }
  return result;
}

}  // namespace tc::strategy
