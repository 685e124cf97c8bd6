#include "tc/polyhedral/map_grid/copy_reads.h"

#include <algorithm>
#include <map>

#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/surround.h"
#include "tc/polyhedral/map_grid/copy_of_read.h"
#include "tc/polyhedral/map_grid/cut_into_blocks.h"
#include "tc/polyhedral/map_grid/pipeline_copies.h"
#include "tc/polyhedral/nest/kernel_nest.h"
#include "tc/polyhedral/spread/distribute_bands.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

/// The outer band's members as the iterators of statement number \p number, tiled by the innermost loops of the trunk.
std::vector<CopyTile> outer_tiles(const NestSpace& space, const Nest& nest, int number) {
  std::vector<CopyTile> result;
  const auto& outer = space.statements.at(static_cast<std::size_t>(number)).entry.outer;
  for (std::size_t m = 0; m < outer.size(); ++m)
    if (outer[m] >= 0) result.push_back({outer[m], tile_of(space, nest, static_cast<int>(m))});
  return result;
}

/// The node at which the reads of \p id are copied: where it is alone, below the blocks of its reduction.
schedule_node alone(const schedule_node& node, const std::string& id) {
  if (statement_ids(node).size() == 1) return node;
  for (unsigned i = 0; i < node.n_children(); ++i) {
    auto child = node.child(static_cast<int>(i));
    if (child.isa<isl::schedule_node_filter>()) child = child.child(0);
    if (contains(statement_ids(child), id)) return alone(child, id);
  }
  return node;
}

/// The iterators of statement number \p number that loops around several statements run, one value after the other.
std::vector<CopyTile> shared_loops(const GridClusterState& state, int number) {
  std::vector<CopyTile> result;
  const auto& branch = state.nest.branches.at(static_cast<std::size_t>(number));
  for (const auto& band : state.space.bands)
    for (const auto& member : band.members) {
      const auto iterator = member.iterator_of(band, branch.statement);
      if (iterator >= 0 && thread_loops(branch, {number, iterator}).empty()) result.push_back({iterator, 1});
    }
  return result;
}

std::vector<int> iterators_of(const std::vector<CopyTile>& tiles) {
  std::vector<int> result;
  for (const auto& tile : tiles) result.push_back(tile.iterator);
  return result;
}

/// The loops around several statements and the blocks around a place where reads of statement number \p number are copied.
std::vector<CopyTile> tiles_around(const GridClusterState& state, int number) {
  auto result = outer_tiles(state.space, state.nest, number);
  for (const auto& loop : shared_loops(state, number)) result.push_back(loop);
  return result;
}

/// Those of \p state that copy reads of one of \p readers.
std::vector<GridAhead> ahead_for(const GridClusterState& state, const std::vector<std::string>& readers) {
  std::vector<GridAhead> result;
  for (const auto& each : state.ahead)
    if (contains(readers, each.reader)) result.push_back(each);
  return result;
}

/// What one statement reads of copies.
struct Reader {
  int number = 0;  ///< of the statement in the nest
  std::vector<NestSharedCopy> choices = {};
};

/// Copies what \p reader reads before it, for each block of its reduction.
Scop copy_before(const Scop& scop, const Reader& reader, GridClusterState& state) {
  auto result = scop;
  const auto& id = state.nest.branches.at(static_cast<std::size_t>(reader.number)).statement;
  const auto blocks = state.blocks(id);
  auto fixed = tiles_around(state, reader.number);
  const auto outer = iterators_of(fixed);
  if (blocks.iterator >= 0) fixed.push_back({blocks.iterator, blocks.size});
  auto root = scop.schedule.root().child(0);
  auto place = alone(state.space.members.empty() ? root : root.child(0), id);
  if (blocks.iterator >= 0) {
    place = cut_into_blocks(scop, place, blocks);
    result.schedule = place.schedule();
  }
  std::vector<Addition> copies;
  for (const auto& choice : reader.choices)
    for (const auto& addition : copy_of_read(result, id, choice, fixed, blocks, outer, state))
      copies.push_back(addition);
  auto path = path_of(place);
  result = surround(result, path, copies, {});
  const auto ahead = ahead_for(state, {id});
  if (ahead.empty()) return result;
  path.pop_back();
  return run_ahead(result, path, ahead);
}

/// The band of one member around several statements that runs over \p iterator of the statement \p id.
schedule_node shared_band(const Scop& scop, const std::string& id, int iterator) {
  auto root = scop.schedule.root().child(0);
  const auto& domain = scop.statement(id).domain;
  for (auto node = alone(root, id); node.has_parent(); node = node.parent()) {
    if (!node.isa<isl::schedule_node_band>() || statement_ids(node).size() == 1) continue;
    const auto members = band_members(node);
    if (members.size() == 1 && only_iterator(members.front(), domain) == iterator) return node;
  }
  throw InternalError(str("no loop around several statements runs over i", iterator, " of '", id, "' alone"));
}

/// Copies what \p readers read for each iteration of the ordered loop around them, at its begin; before the loop what is the same in all.
Scop copy_in_loop(const Scop& scop, const std::vector<Reader>& readers, GridClusterState& state) {
  auto result = scop;
  std::vector<Addition> in_loop, before_loop;
  std::vector<std::string> ids;
  for (const auto& [number, choices] : readers) {
    const auto& id = state.nest.branches.at(static_cast<std::size_t>(number)).statement;
    const auto blocks = state.blocks(id);
    ids.push_back(id);
    for (const auto& choice : choices) {
      const auto& indexed = state.space.statements.at(static_cast<std::size_t>(number)).copied.at(choice.read);
      const bool is_same = !contains(indexed, blocks.iterator);
      auto fixed = tiles_around(state, number);
      if (is_same) std::erase_if(fixed, [&](const CopyTile& tile) { return tile.iterator == blocks.iterator; });
      for (const auto& addition :
           copy_of_read(result, id, choice, fixed, is_same ? CopyBlocks{} : blocks, iterators_of(fixed), state))
        (is_same ? before_loop : in_loop).push_back(addition);
    }
  }
  const auto loop = path_of(shared_band(result, ids.front(), state.blocks(ids.front()).iterator));
  auto body = loop;
  body.push_back(0);
  result = surround(result, body, in_loop, {});
  if (const auto ahead = ahead_for(state, ids); !ahead.empty()) result = run_ahead(result, loop, ahead);
  return surround(result, loop, before_loop, {});
}

}  // namespace

Scop copy_reads(const Scop& scop, GridClusterState& state) {
  std::map<int, Reader> by_number;
  for (const auto& step : state.nest.trunk)
    if (const auto* copy = std::get_if<NestSharedCopy>(&step.what)) {
      auto& reader = by_number[copy->statement];
      reader.number = copy->statement;
      reader.choices.push_back(*copy);
    }
  if (by_number.empty()) return scop;
  std::vector<std::string> ids;
  std::map<const SharedBand*, std::vector<Reader>> of_bands;  ///< whose loops have copies; null: own loops, or none
  for (const auto& [number, reader] : by_number) {
    ids.push_back(state.nest.branches.at(static_cast<std::size_t>(number)).statement);
    of_bands[state.space.ordered_band(number, state.blocks(ids.back()).iterator)].push_back(reader);
  }
  auto result = distribute_bands(scop, state, ids);
  for (const auto& reader : of_bands[nullptr]) result = copy_before(result, reader, state);
  for (const auto& [band, readers] : of_bands)
    if (band) result = copy_in_loop(result, readers, state);
  return result;
}

}  // namespace tc::polyhedral
