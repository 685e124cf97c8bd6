#include "tc/polyhedral/tile_cluster.h"

#include <algorithm>

#include "tc/base/str.h"

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

/// \p value - \p origin.
union_pw_aff from_origin(const union_pw_aff& value, std::int64_t origin, const isl::union_set& domain) {
  if (origin == 0) return value;
  auto constant = call(value.ctx(), isl_union_pw_aff_val_on_domain, call(value.ctx(), isl_union_set_universe, domain.copy()).release(),
                       isl::val(value.ctx(), -origin).release());
  return call(value.ctx(), isl_union_pw_aff_union_add, value.copy(), constant.copy());
}

schedule_node insert_loops(const schedule_node& node, const Loops& loops) {
  if (loops.empty()) return node;
  std::vector<union_pw_aff> members;
  std::vector<bool> coincident;
  for (const auto& loop : loops) {
    members.push_back(loop.index);
    coincident.push_back(loop.coincident);
  }
  return insert_band(node, members, coincident);
}

/// Asks for code of its own for the full tiles of \p node, those for which \p conditions (of isl, on members `t<i>` and on
/// the loops `o<i>` around the band) hold.
schedule_node isolate(const schedule_node& node, const std::vector<std::string>& conditions) {
  if (conditions.empty()) return node;
  std::vector<std::string> outer, here;
  for (int i = 0; i < isl_schedule_node_get_schedule_depth(node.get()); ++i) outer.push_back(str("o", i));
  for (unsigned i = 0; i < node.as<isl::schedule_node_band>().n_member(); ++i) here.push_back(str("t", i));
  auto option = str("{ isolate[[", join(outer), "] -> [", join(here), "]] : ", join(conditions, " and "), " }");
  return node.as<isl::schedule_node_band>().set_ast_build_options(isl::union_set(node.ctx(), option));
}

/// Point loops at every leaf below \p node, and tiles for the inner loops that become lanes.
class Sinker {
 public:
  Sinker(const Scop& scop, const ClusterMapping& mapping) : scop_(scop), mapping_(mapping) {}

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
      auto statement = mapping_.statement(id);
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
      if (range.extent() % size != 0) full.push_back(str(size, "*t", tiles.size(), "+", size, "<=", range.extent()));
      tiles.push_back({quotient(index, size), coincident[i]});
      below.push_back({remainder(index, size), coincident[i]});
    }
    if (!changed) return sink(band.child(0), points).parent();
    if (tiles.empty()) return sink(erase(band), below);
    auto tiled = isolate(insert_loops(erase(band), tiles), full);
    return sink(tiled.child(0), below).parent();
  }

  const Scop& scop_;
  const ClusterMapping& mapping_;
};

/// The bands that take the place of the outer band, outermost first, and the points below them.
class OuterTiles {
 public:
  OuterTiles(const schedule_node& band, const ClusterView& cluster, const ClusterMapping& mapping)
      : mapping_(mapping), band_(band), depth_(isl_schedule_node_get_schedule_depth(band.get())) {
    auto members = band_members(band);
    has_outermost_ = mapping.outermost >= 0 && has_loop(mapping.members[mapping.outermost], cluster.members[mapping.outermost]);
    for (std::size_t i = 0; i < members.size(); ++i) add(static_cast<int>(i), members[i], cluster.members[i]);
  }

  Loops outermost, blocks, tiles, points;
  std::vector<std::string> full;

 private:
  void add(int member, const union_pw_aff& function, const Interval& range) {
    auto size = member < static_cast<int>(mapping_.members.size()) ? mapping_.members[member] : MemberMapping{};
    bool first = member == mapping_.outermost;
    auto index = from_origin(function, range.min, instances_at(band_));
    auto extent = range.extent();
    std::string place;
    if (size.block > 0 && size.block < extent) {
      auto block = quotient(index, size.block);
      place = str(size.block, "*", first ? add_outermost(block) : add_block(block), "+");
      index = remainder(index, size.block);
      extent = size.block;
      first = false;
    }
    bool tiled = size.points > 1 && extent > size.points;
    auto tile = tiled ? quotient(index, size.points) : index;
    if (size.points > 1) points.push_back({tiled ? remainder(index, size.points) : index, true});
    if (extent == 1 || (size.points > 1 && !tiled)) return;
    auto name = first ? add_outermost(tile) : str("t", tiles.size());
    if (!first) tiles.push_back({tile, true});
    bool whole_tiles = extent % size.points == 0;
    if (tiled && (place.empty() || whole_tiles) && range.extent() % size.points != 0)
      full.push_back(str(place, size.points, "*", name, "+", size.points, "<=", range.extent()));
  }
  /// Does more than one iteration stay when the points are taken out?
  static bool has_loop(const MemberMapping& size, const Interval& range) {
    return (size.block > 0 && size.block < range.extent()) || range.extent() > size.points;
  }
  std::string add_outermost(const union_pw_aff& index) {
    outermost.push_back({index, true});
    return str("o", depth_);
  }
  std::string add_block(const union_pw_aff& index) {
    blocks.push_back({index, true});
    return str("o", depth_ + has_outermost_ + static_cast<int>(blocks.size()) - 1);
  }

  const ClusterMapping& mapping_;
  const schedule_node& band_;
  int depth_;
  bool has_outermost_ = false;
};

}  // namespace

TiledCluster tile_cluster(const Scop& scop, const ClusterView& cluster, const ClusterMapping& mapping) {
  auto node = node_at(scop.schedule, cluster.path);
  Sinker sinker(scop, mapping);
  if (cluster.members.empty()) return {sinker.sink(node, {}).schedule(), cluster.path, cluster.path};
  OuterTiles loops(node, cluster, mapping);
  node = insert_loops(erase(node), loops.tiles);
  node = insert_loops(node, loops.blocks);
  node = insert_loops(node, loops.outermost);
  if (!loops.outermost.empty()) node = node.child(0);
  auto first = path_of(node);
  if (!loops.blocks.empty()) node = node.child(0);
  if (!loops.tiles.empty()) node = isolate(node, loops.full).child(0);
  node = sinker.sink(node, loops.points);
  return {node.schedule(), path_of(node), first};
}

}  // namespace tc::polyhedral
