#include "tc/polyhedral/nest/nest_of_mapping.h"

#include <algorithm>
#include <utility>

namespace tc::polyhedral {
namespace {

/// A loop over a digit, and the values that the digit's rest takes at most.
struct Span {
  NestLoop loop;
  std::int64_t values = 1;
};

/// The loops over one member: over blocks, over tiles, and over the points of a tile, each where there is one.
struct MemberLoops {
  std::optional<NestLoop> block, tile;
  std::optional<Span> points;

  /// The outermost of its loops in the trunk that is not taken yet; nothing when all are.
  std::optional<NestLoop> take() {
    auto& next = block ? block : tile;
    return std::exchange(next, std::nullopt);
  }
};

/// As tile_cluster splits a member: into blocks where these do not hold all, then into tiles.
MemberLoops loops_of(int member, const Interval& range, MemberMapping size) {
  const NestIndex index{-1, member};
  if (size.block > 0) size.points = std::min(size.points, size.block);
  MemberLoops result;
  const auto extent = range.extent();
  auto inside = extent, mod = std::int64_t{0};
  const bool blocked = size.block > 0 && size.block < extent;
  if (blocked) {
    result.block = loop_over(index, 0, size.block);
    inside = mod = size.block;
  }
  const bool partial = !range.is_multiple_of(size.points);
  const bool tiled = size.points > 1 && (inside > size.points || (blocked && partial));
  if (tiled || (size.points == 1 && inside > 1)) result.tile = loop_over(index, mod, size.points);
  if (size.points > 1)
    result.points = Span{loop_over(index, tiled ? size.points : mod, 1), std::min(inside, size.points)};
  return result;
}

class NestOfMapping {
 public:
  NestOfMapping(const NestSpace& space, const ClusterMapping& mapping) : space_(space), mapping_(mapping) {
    members_.reserve(space.members.size());
    for (std::size_t m = 0; m < space.members.size(); ++m)
      members_.push_back(loops_of(static_cast<int>(m), space.members[m],
                                  m < mapping.members.size() ? mapping.members[m] : MemberMapping{}));
  }

  Nest run() {
    add_copies([](const PackMapping& pack) { return pack.once; });
    if (mapping_.outermost >= 0) add(mapping_.outermost, mapping_.parallel ? NestPlace::Cores : NestPlace::Serial);
    for (int member : mapping_.above) add(member);
    add_reduction_blocks();
    add_copies([](const PackMapping& pack) { return !pack.once && !pack.below_blocks; });
    for (std::size_t m = 0; m < members_.size(); ++m)
      if (members_[m].block) add(static_cast<int>(m));
    add_copies([](const PackMapping& pack) { return !pack.once && pack.below_blocks; });
    for (std::size_t m = 0; m < members_.size(); ++m) add(static_cast<int>(m));
    for (const auto& tensor : mapping_.staged) nest_.trunk.push_back({NestKeep{tensor}});
    if (mapping_.copies.iterator >= 0)
      nest_.trunk.push_back({NestCopyLanes{mapping_.copies.iterator, mapping_.copies.lanes, mapping_.register_tile}});
    nest_.branches.reserve(space_.statements.size());
    for (std::size_t s = 0; s < space_.statements.size(); ++s) add_branch(static_cast<int>(s));
    return std::move(nest_);
  }

 private:
  void add(int member, NestPlace place = NestPlace::Serial) {
    auto loop = members_.at(static_cast<std::size_t>(member)).take();
    if (!loop) return;
    loop->place = place;
    nest_.trunk.push_back({*loop});
  }

  template <typename Wanted>
  void add_copies(Wanted wanted) {
    for (const auto& pack : mapping_.packed)
      if (wanted(pack))
        nest_.trunk.push_back(
            {NestCopy{space_.position(pack.statement), pack.read, pack.panel, pack.size, pack.panel_last, pack.lanes}});
  }

  void add_reduction_blocks() {
    const auto& cut = mapping_.reduction;
    if (cut.iterator < 0) return;
    auto loop = loop_over({space_.position(cut.statement), cut.iterator}, 0, cut.size);
    loop.with_private_sums = true;
    nest_.trunk.push_back({loop});
  }

  /// Iterations of a statement's own loop that stand below all its loops.
  std::int64_t sunk(const StatementMapping& choice, int iterator) const {
    std::int64_t result = 1;
    const auto& dot = mapping_.dot;
    const auto& window = mapping_.window;
    if (dot.statement == choice.id && dot.iterator == iterator) result = std::int64_t{dot.width} * dot.steps;
    if (window.statement == choice.id && window.iterator == iterator) result = window.width;
    if (choice.iterator == iterator) result = std::max(result, std::int64_t{choice.lanes} * choice.unroll);
    return result;
  }

  void add_branch(int number) {
    const auto& statement = space_.statements[static_cast<std::size_t>(number)];
    const auto& entry = statement.entry;
    auto choice = mapping_.statement(entry.id);
    choice.id = entry.id;
    NestBranch branch{.statement = entry.id};
    std::vector<Span> points;
    for (const auto& member : members_)
      if (member.points) points.push_back(*member.points);
    for (const auto& inner : entry.inner) {
      if (inner.iterator < 0) continue;
      auto extent = statement.extents[static_cast<std::size_t>(inner.iterator)];
      const auto& cut = mapping_.reduction;
      bool is_cut = cut.statement == entry.id && cut.iterator == inner.iterator;
      if (is_cut) extent = std::min(extent, cut.size);
      add_own(branch, points, {number, inner.iterator}, extent, is_cut ? cut.size : 0, sunk(choice, inner.iterator));
    }
    add_points(branch, std::move(points), choice, statement);
    nest_.branches.push_back(std::move(branch));
  }

  /// A loop of the statement's own, of which \p size iterations become points.
  static void add_own(NestBranch& branch, std::vector<Span>& points, const NestIndex& index, std::int64_t extent,
                      std::int64_t mod, std::int64_t size) {
    if (size == 1) {
      if (extent > 1) branch.loops.push_back(loop_over(index, mod, 1));
      return;
    }
    if (extent > size) branch.loops.push_back(loop_over(index, mod, size));
    points.push_back({loop_over(index, extent > size ? size : mod, 1), std::min(extent, size)});
  }

  /// The iterator of \p entry that \p index is; -1 where it is none.
  static int iterator_of(const NestIndex& index, const ClusterStatement& entry) {
    return index.statement >= 0 ? index.number : entry.outer[static_cast<std::size_t>(index.number)];
  }

  void add_points(NestBranch& branch, std::vector<Span> points, const StatementMapping& choice,
                  const NestSpace::Statement& statement) {
    const auto& entry = statement.entry;
    const auto along = [&](int iterator) {
      return std::find_if(points.begin(), points.end(), [&](const Span& span) {
        return iterator >= 0 && iterator_of(span.loop.digit.index, entry) == iterator;
      });
    };
    std::optional<NestLoop> vector;
    if (auto lane = along(choice.iterator); lane != points.end()) {
      auto digit = lane->loop.digit;
      const bool several = lane->values > choice.lanes;
      vector = NestLoop{.digit = {digit.index, several ? choice.lanes : digit.mod, 1},
                        .place = NestPlace::Lanes,
                        .lanes = choice.lanes};
      if (several) {
        lane->loop.digit.step = choice.lanes;
        if (statement.accumulates) std::rotate(lane, lane + 1, points.end());
      } else {
        points.erase(lane);
      }
      if (mapping_.register_tile || choice.unroll > 1)
        for (auto& span : points) span.loop.place = NestPlace::Unrolled;
    }
    const bool moves = vector.has_value();
    set_unit(points, along(mapping_.dot.statement == entry.id ? mapping_.dot.iterator : -1), moves);
    if (moves) slide(points, entry, along(mapping_.window.statement == entry.id ? mapping_.window.iterator : -1));
    for (auto& span : points)
      if (span.values > 1) branch.loops.push_back(span.loop);
    if (vector) branch.loops.push_back(*vector);
  }

  /// One instruction sums the iterations of \p loop, which stand innermost where the points are vectors.
  void set_unit(std::vector<Span>& points, std::vector<Span>::iterator loop, bool innermost) const {
    if (loop == points.end()) return;
    loop->loop.place = NestPlace::Unit;
    loop->loop.width = mapping_.dot.width;
    loop->loop.steps = mapping_.dot.steps;
    if (innermost) std::rotate(loop, loop + 1, points.end());
  }

  void slide(std::vector<Span>& points, const ClusterStatement& entry, std::vector<Span>::iterator loop) const {
    if (loop == points.end()) return;
    for (std::size_t m = 0; m < entry.outer.size(); ++m)
      if (entry.outer[m] == mapping_.window.row) loop->loop.slides_along = NestIndex{-1, static_cast<int>(m)};
    loop->loop.slide_step = mapping_.window.step;
    std::rotate(loop, loop + 1, points.end());
  }

  const NestSpace& space_;
  const ClusterMapping& mapping_;
  std::vector<MemberLoops> members_;
  Nest nest_;
};

}  // namespace

Nest nest_of(const NestSpace& space, const ClusterMapping& mapping) { return NestOfMapping(space, mapping).run(); }

Nest nest_of(const Scop& scop, const ClusterView& cluster, const ClusterMapping& mapping) {
  return nest_of(nest_space(scop, cluster), mapping);
}

}  // namespace tc::polyhedral
