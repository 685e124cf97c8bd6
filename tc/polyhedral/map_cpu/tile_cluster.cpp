#include "tc/polyhedral/map_cpu/tile_cluster.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/polyhedral/core/isolate.h"
#include "tc/polyhedral/core/loops.h"
#include "tc/polyhedral/map/privatise_reduction.h"
#include "tc/polyhedral/nest/branch_points.h"

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

/// Point loops at every leaf below \p node, and tiles for the inner loops that have points.
class Sinker {
 public:
  Sinker(const Scop& scop, const CpuCluster& cluster) : scop_(scop), cluster_(cluster) {}

  schedule_node sink(schedule_node node, const Loops& points) const {
    if (node.isa<isl::schedule_node_leaf>()) return insert_loops(node, points);
    if (node.isa<isl::schedule_node_band>()) return tile_inner(node, points);
    for (unsigned i = 0; i < node.n_children(); ++i) node = sink(node.child(i), points).parent();
    return node;
  }

 private:
  /// Iterations of member \p index of a band above \p ids that are points; 1 when none is.
  std::int64_t points_of_member(const union_pw_aff& index, const std::vector<std::string>& ids) const {
    std::int64_t result = 1;
    for (const auto& id : ids) {
      const auto added = cluster_.state.statement(id);
      const int iterator = only_iterator(index, scop_.statement(id).domain);
      const int number = cluster_.space.position(id);
      if (iterator < 0) continue;
      if (number < 0) {
        if (added.iterator == iterator)
          result = std::max<std::int64_t>(result, std::int64_t{added.lanes} * added.unroll);
        continue;
      }
      const NestIndex own{number, iterator};
      result = std::max(result, points_along(cluster_.nest.branches.at(static_cast<std::size_t>(number)), own,
                                             cluster_.space.extent(own)));
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
      auto size = points_of_member(members[i], ids);
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
  const CpuCluster& cluster_;
};

/// The bands of the trunk's loops, outermost first, and the points of members below them.
class TrunkBands {
 public:
  struct Band {
    Loops loops;
    std::vector<std::string> full = {};  ///< conditions of full tiles
    bool last_digits = true;             ///< all of its loops are over the last digits of members in the trunk
  };

  TrunkBands(const Scop& scop, const schedule_node& node, const CpuCluster& cluster) : trunk_(cluster.nest.trunk) {
    const auto functions = cluster.state.has_band ? band_members(node) : std::vector<union_pw_aff>();
    for (std::size_t m = 0; m < functions.size(); ++m) {
      const auto& range = cluster.view.members[m];
      members_.push_back({.rest = from_origin(functions[m], range.min, instances_at(node)),
                          .extent = extent_text(range, functions[m], instances_at(node))});
    }
    for (const auto& step : trunk_)
      if (const auto* loop = std::get_if<NestLoop>(&step.what); loop && loop->digit.index.statement < 0)
        ++member(*loop).digits_left;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      members_[m].has_points = has_points(cluster.nest, static_cast<int>(m));
      members_[m].separate = is_separate(static_cast<int>(m), cluster.view.members[m]);
    }
    for (const auto& step : trunk_) add(scop, node, cluster.state, step);
    above.push_back(bands.size());
    for (const auto& each : members_)
      if (each.has_points) points.push_back({each.rest, true});
    separate_full_tiles(isl_schedule_node_get_schedule_depth(node.get()));
  }

  std::vector<Band> bands;
  std::vector<std::size_t> above;  ///< for each step of the trunk, and behind the last: the bands above it
  Loops points;

 private:
  struct Place {
    std::size_t band = 0, position = 0;
    std::int64_t step = 1;
  };
  struct Member {
    union_pw_aff rest;  ///< what the loops so far leave of it
    std::optional<std::string> extent;
    int digits_left = 0;  ///< in the trunk
    bool has_points = false;
    bool separate = false;          ///< full tiles are separated from partial ones
    std::vector<Place> loops = {};  ///< in the trunk
  };

  Member& member(const NestLoop& loop) { return members_.at(static_cast<std::size_t>(loop.digit.index.number)); }

  static bool has_points(const Nest& nest, int member) {
    for (const auto& branch : nest.branches)
      for (const auto& loop : branch.loops)
        if (loop.digit.index == NestIndex{-1, member}) return true;
    return false;
  }

  /// Do its tiles fill its blocks, but not its range?
  bool is_separate(int member, const Interval& range) const {
    std::int64_t step = 1;
    for (const auto& each : trunk_) {
      const auto* loop = std::get_if<NestLoop>(&each.what);
      if (!loop || !(loop->digit.index == NestIndex{-1, member})) continue;
      if (loop->digit.mod % loop->digit.step != 0) return false;
      step = loop->digit.step;
    }
    return step > 1 && !range.is_multiple_of(step) && members_[static_cast<std::size_t>(member)].extent.has_value();
  }

  void add(const Scop& scop, const schedule_node& node, const ClusterState& state, const NestStep& step) {
    const auto* loop = std::get_if<NestLoop>(&step.what);
    if (std::holds_alternative<NestCopy>(step.what)) tail_ = bands.size(), is_open_ = false;
    if (!loop) return above.push_back(bands.size());
    if (loop->with_private_sums) {
      above.push_back(open(true).band);
      bands.back().loops.push_back({reduction_blocks(scop, node, state.reduction, state.counting_blocks), false});
      bands.back().last_digits = false;
      tail_ = bands.size();
      return;
    }
    add_member(*loop);
    if (loop->place == NestPlace::Cores) tail_ = bands.size(), is_open_ = false;
  }

  void add_member(const NestLoop& loop) {
    auto& of = member(loop);
    const bool is_last = --of.digits_left == 0;
    const bool repeats = !of.loops.empty() && of.loops.back().band + 1 == bands.size();
    const bool begins_band = repeats || (is_last && of.separate && bands.size() > tail_);
    const bool same_kind = bands.empty() || bands.back().last_digits == is_last;
    auto place = open(!begins_band && same_kind);
    above.push_back(place.band);
    place.step = loop.digit.step;
    of.loops.push_back(place);
    auto& band = bands.back();
    band.last_digits = is_last;
    band.loops.push_back({place.step > 1 ? quotient(of.rest, place.step) : of.rest, true});
    if (place.step > 1) of.rest = remainder(of.rest, place.step);
  }

  /// The place of the next loop, in the last band if it may \p join that.
  Place open(bool join) {
    if (!is_open_ || !join || bands.empty()) bands.emplace_back();
    is_open_ = true;
    return {bands.size() - 1, bands.back().loops.size()};
  }

  /// The name that isolate() has for a loop in a condition of \p band, above which so many loops stand as \p depth says.
  std::string name(const Place& place, std::size_t band, std::size_t depth) const {
    if (place.band == band) return str("t", place.position);
    for (std::size_t i = 0; i < place.band; ++i) depth += bands[i].loops.size();
    return str("o", depth + place.position);
  }

  /// The band in which full tiles of \p of are told from partial ones: that of its last loop, but below all copies.
  std::size_t band_of(const Member& of) {
    auto first = tail_;
    for (auto b = first; b < bands.size(); ++b)
      if (!bands[b].last_digits) first = b + 1;
    if (first == bands.size()) bands.push_back({{{quotient(of.rest, of.loops.back().step), true}}});
    return std::max(of.loops.back().band, first);
  }

  void separate_full_tiles(int depth) {
    for (const auto& each : members_) {
      if (!each.separate) continue;
      const auto band = band_of(each);
      std::string first;
      for (const auto& place : each.loops)
        first += str(place.step, "*", name(place, band, static_cast<std::size_t>(depth)), "+");
      bands[band].full.push_back(str(first, each.loops.back().step, "<=", *each.extent));
    }
  }

  const std::vector<NestStep>& trunk_;
  std::vector<Member> members_;
  std::size_t tail_ = 0;  ///< bands from here on may run in several pieces of code
  bool is_open_ = false;
};

}  // namespace

TiledCluster tile_cluster(const Scop& scop, const CpuCluster& cluster) {
  auto node = node_at(scop.schedule, cluster.view.path);
  const Sinker sinker(scop, cluster);
  TrunkBands trunk(scop, node, cluster);
  if (cluster.state.has_band) node = erase(node);
  for (auto band = trunk.bands.rbegin(); band != trunk.bands.rend(); ++band) node = insert_loops(node, band->loops);
  TilePlaces places{{cluster.view.path}, trunk.above};
  for (const auto& band : trunk.bands) {
    node = isolate(node, band.full).child(0);
    places.below.push_back(path_of(node));
  }
  places.bands.back() = trunk.bands.size();
  return {sinker.sink(node, trunk.points).schedule(), places};
}

}  // namespace tc::polyhedral
