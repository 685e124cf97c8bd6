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

/// Asks for code of its own for the full tiles of \p band: those of member i hold \p full[i] (an isl condition on
/// `t<i>`, "" for any). All enclosing loops are taken as they are.
schedule_node isolate(const schedule_node& node, const std::vector<std::string>& full) {
  std::vector<std::string> outer, here, conditions;
  int depth = isl_schedule_node_get_schedule_depth(node.get());
  for (int i = 0; i < depth; ++i) outer.push_back(str("o", i));
  for (std::size_t i = 0; i < full.size(); ++i) {
    here.push_back(str("t", i));
    if (!full[i].empty()) conditions.push_back(full[i]);
  }
  if (conditions.empty()) return node;
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
    std::vector<std::string> full(members.size());
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
      tiles.push_back({quotient(index, size), coincident[i]});
      below.push_back({remainder(index, size), coincident[i]});
      if (range.extent() % size != 0 && range.extent() > size) full[i] = str(size, "*t", i, "+", size, "<=", range.extent());
    }
    if (!changed) return sink(band.child(0), points).parent();
    auto tiled = isolate(insert_loops(erase(band), tiles), full);
    return sink(tiled.child(0), below).parent();
  }

  const Scop& scop_;
  const ClusterMapping& mapping_;
};

/// The bands that take the place of the outer band, outermost first, and the points below them.
struct OuterTiles {
  Loops parallel, blocks, tiles, points;
  std::vector<std::string> full;
};

OuterTiles outer_tiles(const schedule_node& band, const ClusterView& cluster, const ClusterMapping& mapping) {
  OuterTiles result;
  auto members = band_members(band);
  for (std::size_t i = 0; i < members.size(); ++i) {
    auto size = i < mapping.members.size() ? mapping.members[i] : MemberMapping{};
    bool parallel = static_cast<int>(i) == mapping.parallel;
    auto extent = cluster.members[i].extent();
    auto index = from_origin(members[i], cluster.members[i].min, instances_at(band));
    bool blocked = size.block > 0 && size.block < extent;
    if (blocked) {
      (parallel ? result.parallel : result.blocks).push_back({quotient(index, size.block), true});
      index = remainder(index, size.block);
    }
    auto tile = size.points > 1 ? quotient(index, size.points) : index;
    if (parallel && !blocked) {
      result.parallel.push_back({tile, true});
    } else {
      bool partial = !blocked && size.points > 1 && extent > size.points && extent % size.points != 0;
      result.full.push_back(partial ? str(size.points, "*t", result.tiles.size(), "+", size.points, "<=", extent) : "");
      result.tiles.push_back({tile, true});
    }
    if (size.points > 1) result.points.push_back({remainder(index, size.points), true});
  }
  return result;
}

}  // namespace

isl::schedule tile_cluster(const Scop& scop, const ClusterView& cluster, const ClusterMapping& mapping) {
  auto node = node_at(scop.schedule, cluster.path);
  Sinker sinker(scop, mapping);
  if (cluster.members.empty()) return sinker.sink(node, {}).schedule();
  auto loops = outer_tiles(node, cluster, mapping);
  node = insert_loops(erase(node), loops.tiles);
  node = insert_loops(node, loops.blocks);
  node = insert_loops(node, loops.parallel);
  int depth = !loops.parallel.empty() + !loops.blocks.empty();
  for (int i = 0; i < depth; ++i) node = node.child(0);
  if (!loops.tiles.empty()) node = isolate(node, loops.full).child(0);
  return sinker.sink(node, loops.points).schedule();
}

}  // namespace tc::polyhedral
