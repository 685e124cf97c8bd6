#include "tc/polyhedral/map_cpu/tile_cluster.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/polyhedral/core/isolate.h"
#include "tc/polyhedral/core/loops.h"
#include "tc/polyhedral/map/privatise_reduction.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;
using isl::union_pw_aff;

/// A loop over one dimension.
struct Loop {
  union_pw_aff index;
  bool coincident = false;
};
using Loops = std::vector<Loop>;

/// Point loops at every leaf below \p node, and tiles for the inner loops that become lanes.
class Sinker {
 public:
  Sinker(const Scop& scop, const ClusterState& cluster) : scop_(scop), cluster_(cluster), mapping_(cluster.mapping) {}

  schedule_node sink(schedule_node node, const Loops& points) const {
    if (node.isa<isl::schedule_node_leaf>()) return insert_loops(node, points);
    if (node.isa<isl::schedule_node_band>()) return tile_inner(node, points);
    for (unsigned i = 0; i < node.n_children(); ++i) node = sink(node.child(i), points).parent();
    return node;
  }

 private:
  /// Iterations of member \p index of a band above \p ids that are sunk; 1 when none is.
  std::int64_t points_of(const union_pw_aff& index, const std::vector<std::string>& ids) const {
    std::int64_t result = 1;
    for (const auto& id : ids) {
      const auto& dot = mapping_.dot;
      if (id == dot.statement && only_iterator(index, scop_.statement(id).domain) == dot.iterator)
        result = std::int64_t{dot.width} * dot.steps;
      const auto& window = mapping_.window;
      if (id == window.statement && only_iterator(index, scop_.statement(id).domain) == window.iterator)
        result = window.width;
      auto statement = cluster_.statement(id);
      if (statement.iterator >= 0 && only_iterator(index, scop_.statement(id).domain) == statement.iterator)
        result = std::max<std::int64_t>(result, std::int64_t{statement.lanes} * statement.unroll);
    }
    return result;
  }

  schedule_node tile_inner(const schedule_node& band, const Loops& points) const {
    auto members = band_members(band);
    auto coincident = band_coincident(band);
    auto ids = statement_ids(band);
    Loops tiles, below = points;
    std::vector<std::string> full;
    bool changed = false;
    for (std::size_t i = 0; i < members.size(); ++i) {
      auto size = points_of(members[i], ids);
      if (size == 1) {
        tiles.push_back({members[i], coincident[i]});
        continue;
      }
      changed = true;
      auto range = values(members[i], instances_at(band));
      auto index = from_origin(members[i], range.min, instances_at(band));
      if (range.extent() <= size) {
        below.push_back({index, coincident[i]});
        continue;
      }
      if (!range.is_multiple_of(size))
        if (auto end = extent_text(range, members[i], instances_at(band)))
          full.push_back(str(size, "*t", tiles.size(), "+", size, "<=", *end));
      tiles.push_back({quotient(index, size), coincident[i]});
      below.push_back({remainder(index, size), coincident[i]});
    }
    if (!changed) return sink(band.child(0), points).parent();
    if (tiles.empty()) return sink(erase(band), below);
    auto tiled = isolate(insert_loops(erase(band), tiles), full);
    return sink(tiled.child(0), below).parent();
  }

  const Scop& scop_;
  const ClusterState& cluster_;
  const ClusterMapping& mapping_;
};

/// The bands that take the place of the outer band, outermost first, and the points below them.
class OuterTiles {
 public:
  OuterTiles(const Scop& scop, const schedule_node& band, const ClusterView& cluster, const ClusterState& state)
      : mapping_(state.mapping) {
    auto members = band_members(band);
    for (std::size_t i = 0; i < members.size(); ++i)
      splits_.push_back(split(static_cast<int>(i), members[i], cluster.members[i], band));
    if (mapping_.outermost >= 0) take_first(mapping_.outermost, outermost);
    for (int member : mapping_.above) take_first(member, above);
    if (mapping_.reduction.iterator >= 0)
      above.push_back({reduction_blocks(scop, band, mapping_.reduction, state.counting_blocks), false});
    for (auto& split : splits_) take(split.block, blocks);
    for (auto& split : splits_) take_tile(split);
    for (const auto& split : splits_)
      if (tiles.empty() && split.separate) tiles.push_back({{{split.first_tile, true}}, {}});
    separate_full_tiles(isl_schedule_node_get_schedule_depth(band.get()));
  }

  /// A band of loops over tiles and the conditions for full ones: each member with partial tiles starts a band of its
  /// own, so that their combinations are separated too.
  struct TileBand {
    Loops loops;
    std::vector<std::string> full;
  };

  Loops outermost, above, blocks, points;
  std::vector<TileBand> tiles;

 private:
  /// One loop of a member, absent without an index, and its place: a position in a group or in a band of tiles.
  struct Part {
    Nullable<union_pw_aff> index;
    const Loops* group = nullptr;
    std::size_t position = 0;
    int band = -1;
  };
  struct Split {
    Part block, tile;
    Nullable<union_pw_aff> first_tile;  ///< of a loop of one iteration, which tells full tiles from partial ones
    std::int64_t block_size = 0, points = 1;
    std::optional<std::string> extent;
    bool separate = false;  ///< full tiles are separated from partial ones
  };

  Split split(int member, const union_pw_aff& function, const Interval& range, const schedule_node& band) {
    auto size = member < static_cast<int>(mapping_.members.size()) ? mapping_.members[member] : MemberMapping{};
    auto index = from_origin(function, range.min, instances_at(band));
    Split result{
        .block_size = size.block, .points = size.points, .extent = extent_text(range, function, instances_at(band))};
    auto extent = range.extent();
    bool blocked = size.block > 0 && size.block < extent;
    if (blocked) {
      result.block.index = quotient(index, size.block);
      index = remainder(index, size.block);
      extent = size.block;
    }
    bool has_partial = !range.is_multiple_of(size.points);
    bool tiled = size.points > 1 && (extent > size.points || (blocked && has_partial));
    if (size.points > 1) points.push_back({tiled ? remainder(index, size.points) : index, true});
    if (tiled || (size.points == 1 && extent > 1)) result.tile.index = tiled ? quotient(index, size.points) : index;
    bool whole_tiles = extent % size.points == 0;
    if (size.points > 1) result.first_tile = quotient(remainder(index, size.points), size.points);
    result.separate = (blocked ? size.points > 1 && whole_tiles : tiled) && has_partial && result.extent;
    return result;
  }

  void take(Part& part, Loops& group) {
    if (part.group || part.index.is_null()) return;
    part.group = &group;
    part.position = group.size();
    group.push_back({part.index, true});
  }
  void take_first(int member, Loops& group) {
    auto& split = splits_.at(member);
    take(split.block.index.is_null() || split.block.group ? split.tile : split.block, group);
  }

  void take_tile(Split& split) {
    if (split.tile.group || split.tile.index.is_null()) return;
    if (tiles.empty() || (split.separate && !tiles.back().loops.empty())) tiles.emplace_back();
    auto& loops = tiles.back().loops;
    split.tile.band = static_cast<int>(tiles.size()) - 1;
    split.tile.position = loops.size();
    loops.push_back({split.tile.index, true});
  }

  /// The name isolate() knows a loop by.
  std::string name(const Part& part, int depth) const {
    if (part.band >= 0) return str("t", part.position);
    auto outside =
        depth + (part.group != &outermost ? outermost.size() : 0) + (part.group == &blocks ? above.size() : 0);
    return str("o", outside + part.position);
  }

  void separate_full_tiles(int depth) {
    for (const auto& split : splits_) {
      if (!split.separate || tiles.empty()) continue;
      std::string first;
      if (split.block.group) first += str(split.block_size, "*", name(split.block, depth), "+");
      if (!split.tile.index.is_null()) first += str(split.points, "*", name(split.tile, depth), "+");
      tiles[std::max(split.tile.band, 0)].full.push_back(str(first, split.points, "<=", *split.extent));
    }
  }

  const ClusterMapping& mapping_;
  std::vector<Split> splits_;
};

}  // namespace

TiledCluster tile_cluster(const Scop& scop, const ClusterView& cluster, const ClusterState& state) {
  auto node = node_at(scop.schedule, cluster.path);
  Sinker sinker(scop, state);
  if (cluster.members.empty())
    return {sinker.sink(node, {}).schedule(), {cluster.path, cluster.path, cluster.path, cluster.path, cluster.path}};
  OuterTiles loops(scop, node, cluster, state);
  node = erase(node);
  for (auto band = loops.tiles.rbegin(); band != loops.tiles.rend(); ++band) node = insert_loops(node, band->loops);
  for (const auto* group : {&loops.blocks, &loops.above, &loops.outermost}) node = insert_loops(node, *group);
  auto below = [&](const Loops& group) {
    if (!group.empty()) node = node.child(0);
    return path_of(node);
  };
  TilePlaces places{.start = cluster.path};
  places.first = below(loops.outermost);
  places.copies = below(loops.above);
  places.block = below(loops.blocks);
  for (const auto& band : loops.tiles) node = isolate(node, band.full).child(0);
  places.inside = path_of(node);
  return {sinker.sink(node, loops.points).schedule(), places};
}

}  // namespace tc::polyhedral
