#include "tc/polyhedral/map_cpu/check_cpu_nest.h"

#include <algorithm>
#include <set>

#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/map_cpu/pack.h"
#include "tc/polyhedral/map_cpu/ragged_lanes.h"
#include "tc/polyhedral/nest/branch_points.h"
#include "tc/polyhedral/nest/check_nest.h"
#include "tc/polyhedral/nest/idle_loops.h"
#include "tc/polyhedral/nest/nest_space.h"

namespace tc::polyhedral {
namespace {

/// Instances that are unrolled at most, and lanes of a vector.
constexpr std::int64_t most_unrolled = 4096;
constexpr int most_lanes = 64;

bool is_power_of_two(int number) { return number > 0 && (number & (number - 1)) == 0; }

class CpuNestCheck {
 public:
  CpuNestCheck(const Scop& scop, const ClusterView& view, const Nest& nest, const NestRefusal& refuse)
      : scop_(scop), view_(view), nest_(nest), refuse_(refuse), space_(nest_space(scop, view)) {
    if (!view.members.empty()) coincident_ = band_coincident(node_at(scop.schedule, view.path));
  }

  void run() {
    for (std::size_t i = 0; i < nest_.trunk.size(); ++i) check_step(i);
    check_tiles();
    for (std::size_t b = 0; b < nest_.branches.size(); ++b) check_branch(b);
  }

 private:
  [[noreturn]] void fail(const std::string& law, const std::string& why) const {
    refuse_(part_, law, why);
    throw InternalError("a law was broken without an error");
  }

  /// There is one of \p what in a cluster.
  void count(const char* law, const char* what) {
    if (!met_.insert(what).second) fail(law, str("a cluster has one of its ", what));
  }

  void check_step(std::size_t number) {
    part_ = {NestPart::Where::Step, number};
    const auto& what = nest_.trunk[number].what;
    if (const auto* loop = std::get_if<NestLoop>(&what)) check_trunk_loop(*loop);
    if (const auto* copy = std::get_if<NestCopy>(&what)) check_copy(*copy);
    if (const auto* keep = std::get_if<NestKeep>(&what)) {
      if (!scop_.has_tensor(keep->tensor)) fail("keep", str("there is no tensor '", keep->tensor, "' to stage"));
      if (!kept_.insert(keep->tensor).second) fail("keep", str("'", keep->tensor, "' is staged twice"));
    }
    if (const auto* lanes = std::get_if<NestCopyLanes>(&what)) {
      count("copies", "loops that fill and empty what is kept");
      check_lane_count(lanes->lanes, "copies have");
    }
  }

  void check_trunk_loop(const NestLoop& loop) {
    const auto& index = loop.digit.index;
    if (!kept_.empty()) fail("keep", "loops that all statements share stand above what is kept");
    if (loop.with_private_sums) {
      count("sums", "loops with private sums");
      cut_ = index.statement;
      check_reduced(static_cast<std::size_t>(index.statement), index.number, "cut into blocks");
    }
    if (loop.place != NestPlace::Cores) return;
    if (view_.in_strips()) fail("cores", "it runs in strips, and the loop around these runs on threads");
    if (!coincident_.at(static_cast<std::size_t>(index.number)))
      fail("cores", str("member ", index.number, " carries a dependence, so it does not run on threads"));
  }

  /// Tiles, and loops in another order than the band's, where the band allows them.
  void check_tiles() {
    const bool allowed = view_.permutable || view_.members.size() < 2 ||
                         std::all_of(coincident_.begin(), coincident_.end(), [](bool one) { return one; });
    if (allowed) return;
    int last = -1;
    for (std::size_t i = 0; i < nest_.trunk.size(); ++i) {
      const auto* loop = std::get_if<NestLoop>(&nest_.trunk[i].what);
      if (!loop || loop->digit.index.statement >= 0) continue;
      part_ = {NestPart::Where::Step, i};
      if (loop->digit.step > 1 || loop->digit.mod > 0)
        fail("order", "the members of its band may not be interchanged, so they are not tiled");
      if (loop->digit.index.number <= last) fail("order", "the members of its band may not be interchanged");
      last = loop->digit.index.number;
    }
  }

  void check_branch(std::size_t number) {
    part_ = {NestPart::Where::Branch, number};
    const auto& branch = nest_.branches[number];
    check_order(number);
    check_unrolled(branch);
    for (const auto& loop : branch.loops) {
      if (loop.place == NestPlace::Lanes) check_lanes(number, loop);
      if (loop.place == NestPlace::Unit) {
        count("unit", "loops that instructions sum");
        check_reduced(number, own_iterator(loop), "summed by instructions");
        if (std::int64_t{loop.width} * loop.steps > most_unrolled)
          fail("unit", str("dot products have at most ", most_unrolled, " terms"));
      }
      if (loop.slides_along) check_window(number, loop);
    }
  }

  static int own_iterator(const NestLoop& loop) {
    return loop.digit.index.statement < 0 ? -1 : loop.digit.index.number;
  }

  /// Loops of the schedule stand in its order, above the points.
  void check_order(std::size_t number) const {
    const auto& branch = nest_.branches[number];
    std::size_t next = 0;
    bool below_points = false;
    for (std::size_t i = 0; i < branch.loops.size(); ++i) {
      const bool point = is_point(branch, i);
      if (below_points && !point) fail("order", "serial loops over its own iterators stand above all other loops");
      below_points = below_points || point;
      if (point) continue;
      const auto& inner = view_.statements[number].inner;
      while (next < inner.size() && inner[next].iterator != own_iterator(branch.loops[i])) ++next;
      if (next == inner.size()) fail("order", "loops over its own iterators stand in the order of the schedule");
    }
  }

  void check_unrolled(const NestBranch& branch) const {
    if (!is_unrolled(branch)) return;
    std::int64_t points = 1;
    for (const auto& loop : points_of(branch)) {
      const auto values = values_of(loop.digit, space_.extent(loop.digit.index));
      if (values > 1 && loop.place == NestPlace::Serial)
        fail("unrolled", "all points of a statement, the loops directly above it, are unrolled or none is");
      points = std::min(points, most_unrolled) * std::min(values, most_unrolled + 1);
    }
    const std::int64_t lanes = std::max(1, branch.loops.back().lanes);
    if (points > most_unrolled * lanes) fail("unrolled", str("a register tile has at most ", most_unrolled, " points"));
  }

  /// Lanes are a power of two, at most 64.
  void check_lane_count(int lanes, const std::string& what) const {
    if (!is_power_of_two(lanes) || lanes > most_lanes)
      fail("lanes", str(what, " ", lanes, " lanes: they have 1, 2, 4, ... ", most_lanes));
  }

  const Statement& statement(std::size_t number) const { return scop_.statement(view_.statements.at(number).id); }

  /// \p iterator is a loop of the reduction that statement number \p number is.
  void check_reduced(std::size_t number, int iterator, const char* what) const {
    const auto& update = statement(number);
    const auto& found = view_.statements.at(number);
    const bool own = std::any_of(found.inner.begin(), found.inner.end(),
                                 [&](const InnerLoop& loop) { return loop.iterator == iterator && !loop.shared; });
    if (iterator < 0 || !own || !reduces_alone(update, found) || contains(kept_dimensions(update), iterator))
      fail("sums",
           str("i", iterator, " of '", found.id, "' is not ", what, ": it is no loop of a reduction that has its own"));
  }

  void check_lanes(std::size_t number, const NestLoop& loop) const {
    const auto& found = view_.statements[number];
    const auto& mapped = statement(number);
    const int iterator = space_.iterator(loop.digit.index, static_cast<int>(number));
    check_lane_count(loop.lanes, str("'", found.id, "' has"));
    if (iterator < 0) fail("lanes", str("no loop of '", found.id, "' runs along them"));
    if (has_ragged_lanes(mapped, iterator))
      fail("lanes", str("lanes of '", found.id, "' along i", iterator,
                        " would begin anywhere: another iterator bounds it from below"));
    if (contains(found.outer, iterator)) return;
    const auto inner = std::find_if(found.inner.begin(), found.inner.end(),
                                    [&](const InnerLoop& each) { return each.iterator == iterator; });
    if (inner == found.inner.end()) fail("lanes", str("no loop runs along i", iterator, " of '", found.id, "'"));
    if (mapped.accumulates && !contains(kept_dimensions(mapped), iterator)) {
      check_reduced(number, iterator, "run along lanes");
      if (static_cast<int>(number) == cut_)
        fail("sums", str("'", found.id, "' has private sums of blocks, and so none of lanes"));
      return check_whole_vectors(number, loop);
    }
    if (!inner->coincident)
      fail("lanes",
           str("the loop along i", iterator, " of '", found.id, "' carries a dependence, so no lanes run along it"));
  }

  /// Sums in lanes are started and joined in whole vectors.
  void check_whole_vectors(std::size_t number, const NestLoop& lanes) const {
    const auto& index = lanes.digit.index;
    const auto extent = space_.extent(index);
    const auto points = points_along(nest_.branches[number], index, extent);
    const auto vectors = vectors_in_flight(space_, nest_.branches[number], lanes);
    if (points < extent && points % (std::int64_t{lanes.lanes} * vectors) != 0)
      fail("lanes", str("along a reduction ", points, " iterations are no whole number of vectors, which have ",
                        lanes.lanes, " lanes, ", vectors, " of them at once"));
  }

  void check_window(std::size_t number, const NestLoop& loop) {
    count("window", "windows");
    check_reduced(number, own_iterator(loop), "slid along");
    if (loop.slides_along->statement >= 0) fail("window", "a window slides along a member of the band");
    if (loop.digit.mod > 0 || loop.digit.step != 1) fail("window", "a window is as wide as the loop that slides");
    if (space_.extent(loop.digit.index) > most_unrolled)
      fail("window", str("a window is at most ", most_unrolled, " wide"));
  }

  void check_copy(const NestCopy& copy) const {
    const auto number = static_cast<std::size_t>(copy.statement);
    const auto& reader = statement(number);
    const auto tensor = range_name(reader.reads.at(static_cast<std::size_t>(copy.read)).relation);
    if (!contains(index_iterators(reader, copy.read), copy.panel))
      fail("copies", str("read ", copy.read, " of '", view_.statements[number].id, "' cannot be copied in panels of i",
                         copy.panel, ": its indices are not iterators, i", copy.panel, " among them"));
    for (const auto& writer : view_.statements)
      if (touches(scop_.statement(writer.id).write, tensor))
        fail("copies", str("'", tensor, "' is not copied: '", writer.id, "' writes it"));
    check_lane_count(copy.lanes, "copies have");
    if (copy.size > most_unrolled) fail("copies", str("panels are of at most ", most_unrolled, " iterations"));
  }

  const Scop& scop_;
  const ClusterView& view_;
  const Nest& nest_;
  const NestRefusal& refuse_;
  const NestSpace space_;
  std::vector<bool> coincident_;
  NestPart part_;
  int cut_ = -1;  ///< the statement that has private sums of blocks
  std::set<std::string> met_, kept_;
};

}  // namespace

void check_cpu_nest(const Scop& scop, const ClusterView& cluster, const Nest& nest, const NestRefusal& refuse) {
  CpuNestCheck(scop, cluster, nest, refuse).run();
}

bool is_realisable(const Scop& scop, const ClusterView& cluster, const Nest& nest) {
  try {
    check_cpu_nest(scop, cluster, nest,
                   [](const NestPart&, const std::string&, const std::string& why) { throw OptionsError(why); });
    return true;
  } catch (const OptionsError&) {
    return false;
  }
}

void check_cpu_nest(const Scop& scop, const ClusterView& cluster, const NestNames& names, const Nest& nest) {
  check_cpu_nest(scop, cluster, nest, refusal_in(names, nest));
}

}  // namespace tc::polyhedral
