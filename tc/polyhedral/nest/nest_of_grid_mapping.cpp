#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/polyhedral/nest/idle_loops.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"

namespace tc::polyhedral {
namespace {

/// A loop before its digits are taken apart: over `extent` values of floor(rest / step), where rest is its index mod `mod`, or
/// the index itself if that is 0.
struct SpreadSpan {
  NestIndex index;
  std::int64_t mod = 0, step = 1, extent = 1;
  ThreadLoop threads;
};

class NestOfGridMapping {
 public:
  NestOfGridMapping(const NestSpace& space, const GridClusterMapping& mapping)
      : space_(space), mapping_(mapping), block_(mapping.block) {
    for (std::size_t m = 0; m < space.members.size(); ++m) add_member(static_cast<int>(m));
  }

  Nest run() {
    block_ = used_threads();
    Nest result;
    result.launch = {block_, mapping_.shared_bytes, mapping_.thread_elements, mapping_.blocks_per_multiprocessor};
    for (const auto& tile : tiles_) result.trunk.push_back({tile});
    if (mapping_.separate && has_partial_tiles_) result.trunk.push_back({NestSeparate{}});
    for (const auto& copy : mapping_.copies) result.trunk.push_back({copy_of(copy)});
    for (const auto& tensor : mapping_.staged) result.trunk.push_back({NestKeep{tensor}});
    for (const auto& tensor : mapping_.promoted) result.trunk.push_back({NestKeep{tensor, true}});
    const auto& others = mapping_.others;
    const bool adds = !mapping_.staged.empty() || sums_over_threads([](const std::string&) { return true; });
    if (adds && (others.tile || others.vector || others.unroll))
      result.trunk.push_back({NestAdded{others.tile, others.vector, others.unroll}});
    for (std::size_t s = 0; s < space_.statements.size(); ++s) result.branches.push_back(branch_of(s));
    return without_idle_loops(space_, result);
  }

 private:
  /// The loops of a branch in the order in which they stand.
  struct Branch {
    std::vector<NestLoop> above;     ///< that all threads run
    std::vector<SpreadSpan> points;  ///< of the loops above the statement
    std::vector<SpreadSpan> own;     ///< of the statement alone
  };

  /// As tile_members cuts a member, and gives its tiles to blocks.
  void add_member(int member) {
    const auto number = static_cast<std::size_t>(member);
    const auto choice = number < mapping_.members.size() ? mapping_.members[number] : GridMember{.tile = 0};
    const auto extent = space_.members[number].extent();
    const auto tile = choice.tile == 0 ? extent : choice.tile;
    const auto count = ceil_div(extent, tile);
    const NestIndex index{-1, member};
    if (count > 1) {
      has_partial_tiles_ = has_partial_tiles_ || !space_.members[number].is_multiple_of(tile);
      auto loop = loop_over(index, 0, tile);
      const auto most = choice.grid < 0 ? 1 : mapping_.grid[static_cast<std::size_t>(choice.grid)];
      if (most > 1) {
        loop.place = NestPlace::Grid;
        loop.dimension = choice.grid;
        loop.blocks = most < count ? most : 0;
      }
      tiles_.push_back(loop);
    }
    if (tile > 1 && extent > 1)
      points_.push_back({index, count > 1 ? tile : 0, 1, std::min(tile, extent), choice.threads});
  }

  ThreadLoop wish(const std::string& id, int iterator) const {
    for (const auto& loop : mapping_.statement(id).loops)
      if (loop.iterator == iterator) return loop.threads;
    return {};
  }

  /// Is a statement for which \p holds summed over the threads of x?
  template <typename Holds>
  bool sums_over_threads(Holds holds) const {
    for (const auto& statement : mapping_.statements)
      for (const auto& loop : statement.loops)
        if (loop.threads.dimension == 0 && mapping_.block[0] > 1 && holds(statement.id))
          if (const auto s = space_.position(statement.id); s >= 0 && space_.is_reduced({s, loop.iterator}))
            return true;
    return false;
  }

  bool has_copies(const std::string& id) const {
    return !mapping_.copies.empty() && mapping_.copies.front().statement == id;
  }

  /// How the statements below member number \p member of \p band agree to spread it (spread_over_threads.h). Statements that
  /// passes add below it agree to nothing.
  ThreadLoop agreed(const SharedBand& band, std::size_t member) const {
    ThreadLoop result;
    for (std::size_t i = 0; i < band.statements.size(); ++i) {
      const auto& id = band.statements[i];
      const auto iterator = band.members[member].iterators[i];
      const auto own = iterator < 0 ? ThreadLoop{} : wish(id, iterator);
      if (i > 0 && !(own == result)) return {};
      result = own;
    }
    const auto is_below = [&](const std::string& id) { return contains(band.statements, id); };
    const bool has_added =
        sums_over_threads(is_below) || std::any_of(band.statements.begin(), band.statements.end(),
                                                   [&](const std::string& id) { return has_copies(id); });
    return has_added ? ThreadLoop{} : result;
  }

  static bool uses(const std::vector<SpreadSpan>& spans, int dimension) {
    return std::any_of(spans.begin(), spans.end(), [&](const SpreadSpan& span) {
      return span.threads.dimension == dimension || span.threads.warps.dimension == dimension;
    });
  }

  std::int64_t threads_along(int dimension) const { return block_[static_cast<std::size_t>(dimension)]; }

  /// As shared_loops spreads the loops around several statements of which \p statement is one.
  void add_shared(std::size_t statement, Branch& result) const {
    const auto& id = space_.statements[statement].entry.id;
    for (const auto& band : space_.bands) {
      if (!contains(band.statements, id)) continue;
      for (std::size_t i = 0; i < band.members.size(); ++i) {
        const auto& member = band.members[i];
        const auto threads = member.coincident ? agreed(band, i) : ThreadLoop{};
        const auto iterator = member.iterator_of(band, id);
        if (iterator < 0) continue;
        const NestIndex index{static_cast<int>(statement), iterator};
        if (threads.dimension < 0 || uses(result.points, threads.dimension) || (i > 0 && !band.permutable)) {
          result.above.push_back(loop_over(index, 0, 1));
          continue;
        }
        const auto round = threads.run * threads_along(threads.dimension);
        const bool has_rounds = member.extent > round;
        if (has_rounds) result.above.push_back(loop_over(index, 0, round));
        result.points.push_back({index, has_rounds ? round : 0, 1, std::min(member.extent, round), threads});
      }
    }
  }

  Branch loops_of(std::size_t statement) const {
    const auto& entry = space_.statements[statement].entry;
    const auto& blocks = mapping_.blocks;
    const bool is_cut = blocks.iterator >= 0 && blocks.statement == entry.id;
    Branch result{.points = points_};
    add_shared(statement, result);
    if (is_cut) {
      const NestIndex index{static_cast<int>(statement), blocks.iterator};
      if (has_copies(entry.id)) {
        result.above.push_back(loop_over(index, 0, blocks.size));
        result.above.back().slots = blocks.slots;
      } else {
        const auto count = ceil_div(space_.extent(index), blocks.size);
        result.own.push_back({index, 0, blocks.size, count, {}});
      }
    }
    for (const auto& inner : entry.inner) {
      if (inner.iterator < 0 || inner.shared) continue;
      const NestIndex index{static_cast<int>(statement), inner.iterator};
      const bool here = is_cut && inner.iterator == blocks.iterator;
      const auto extent = space_.extent(index);
      auto threads = wish(entry.id, inner.iterator);
      if (threads.dimension < 0 || uses(result.points, threads.dimension)) threads = {};
      result.own.push_back({index, here ? blocks.size : 0, 1, here ? std::min(extent, blocks.size) : extent, threads});
    }
    return result;
  }

  /// How many threads of \p span there is something for, of so many along its dimension.
  std::int64_t threads_of(const SpreadSpan& span) const {
    if (span.threads.has_warps()) return threads_along(span.threads.dimension);
    return std::min(ceil_div(span.extent, span.threads.run), threads_along(span.threads.dimension));
  }

  std::array<std::int64_t, 3> used_threads() const {
    std::array<std::int64_t, 3> result = {1, 1, 1};
    if (sums_over_threads([](const std::string&) { return true; })) result[0] = block_[0];
    for (std::size_t s = 0; s < space_.statements.size(); ++s) {
      const auto loops = loops_of(s);
      for (const auto* spans : {&loops.points, &loops.own})
        for (const auto& span : *spans)
          if (auto dimension = span.threads.dimension; dimension >= 0) {
            auto& used = result[static_cast<std::size_t>(dimension)];
            used = std::max(used, threads_of(span));
            if (!span.threads.has_warps()) continue;
            const auto warps = static_cast<std::size_t>(span.threads.warps.dimension);
            result[warps] = std::max(result[warps], block_[warps]);
          }
    }
    return result;
  }

  /// The digits of \p span that count warps, where there are several, and their rounds; \p mod is that of the ones below.
  void take_warps(const SpreadSpan& span, std::vector<NestLoop>& loops, std::int64_t& mod) const {
    const auto& warps = span.threads.warps;
    const auto round = warps.run * warps.count;
    if (warps.count == 1) return;
    if (span.extent > round) {
      loops.push_back(loop_over(span.index, mod, round));
      mod = round;
    }
    auto loop = loop_over(span.index, mod, warps.run);
    loop.place = NestPlace::Thread;
    loop.dimension = warps.dimension;
    loops.push_back(loop);
    mod = warps.run;
  }

  /// The digits of \p span: rounds and threads go to \p loops, what a thread takes of neighbouring values to \p runs.
  void take_apart(const SpreadSpan& span, std::vector<NestLoop>& loops,
                  std::vector<std::pair<int, NestLoop>>& runs) const {
    const auto& [dimension, run, count, warps] = span.threads;
    if (dimension < 0) return loops.push_back(loop_over(span.index, span.mod, span.step));
    const auto round = run * (count > 0 ? count : threads_along(dimension));
    auto mod = span.mod;
    if (span.threads.has_warps()) take_warps(span, loops, mod);
    if (std::min(span.extent, mod > 0 ? mod : span.extent) > round) {
      loops.push_back(loop_over(span.index, mod, round));
      mod = round;
    }
    auto threads = loop_over(span.index, mod, run);
    threads.place = NestPlace::Thread;
    threads.dimension = dimension;
    loops.push_back(threads);
    if (run > 1) runs.emplace_back(dimension, loop_over(span.index, run, 1));
  }

  NestBranch branch_of(std::size_t statement) const {
    const auto& id = space_.statements[statement].entry.id;
    const auto choice = mapping_.statement(id);
    const auto loops = loops_of(statement);
    NestBranch result{.statement = id, .unit = choice.unit.name};
    if (choice.together) {
      result.loops = joined(statement, choice, loops);
      return result;
    }
    std::vector<NestLoop> points, own;
    std::vector<std::pair<int, NestLoop>> runs;
    for (const auto& span : loops.points) take_apart(span, points, runs);
    for (const auto& span : loops.own) take_apart(span, own, runs);
    auto all = choice.tile ? own : points;
    const auto& rest = choice.tile ? points : own;
    all.insert(all.end(), rest.begin(), rest.end());
    std::stable_partition(runs.begin(), runs.end(), [](const auto& run) { return run.first > 0; });
    for (const auto& [dimension, run] : runs) all.push_back(run);
    const bool has_vector = choice.vector && !runs.empty();
    for (std::size_t i = 0; choice.unroll && i + has_vector < all.size(); ++i)
      if (all[i].place == NestPlace::Serial) all[i].place = NestPlace::Unrolled;
    if (has_vector) make_vector(choice, all.back());
    result.loops = loops.above;
    result.loops.insert(result.loops.end(), all.begin(), all.end());
    return result;
  }

  void make_vector(const GridStatement& choice, NestLoop& loop) const {
    loop.place = NestPlace::Lanes;
    std::int64_t lanes = 1;
    for (const auto& each : choice.loops) lanes = std::max(lanes, each.threads.run);
    for (const auto& member : mapping_.members) lanes = std::max(lanes, member.threads.run);
    loop.lanes = static_cast<int>(lanes);
  }

  /// The loops of a statement that count as one (GridStatement::together).
  std::vector<NestLoop> joined(std::size_t statement, const GridStatement& choice, const Branch& loops) const {
    const auto& outer = space_.statements[statement].entry.outer;
    auto all = loops.points;
    all.insert(all.end(), loops.own.begin(), loops.own.end());
    auto result = loops.above;
    std::vector<NestLoop> runs;
    for (const auto& wish : choice.loops)
      for (const auto& span : all) {
        const auto& index = span.index;
        if ((index.statement < 0 ? outer[static_cast<std::size_t>(index.number)] : index.number) != wish.iterator)
          continue;
        auto loop = loop_over(index, span.mod, wish.threads.run);
        loop.place = NestPlace::Threads;
        loop.beside = wish.beside;
        result.push_back(loop);
        if (wish.threads.run > 1) runs.push_back(loop_over(index, wish.threads.run, 1));
      }
    if (choice.vector && !runs.empty()) make_vector(choice, runs.back());
    for (auto& run : runs)
      if (choice.unroll && run.place == NestPlace::Serial) run.place = NestPlace::Unrolled;
    result.insert(result.end(), runs.begin(), runs.end());
    return result;
  }

  NestSharedCopy copy_of(const GridCopy& copy) const {
    NestSharedCopy result{.statement = space_.position(copy.statement), .read = copy.read};
    const auto& reads = space_.statements.at(static_cast<std::size_t>(result.statement)).copied;
    const auto& iterators = reads.at(static_cast<std::size_t>(copy.read));
    const auto indexes = [&](int iterator) { return contains(iterators, iterator); };
    if (indexes(copy.contiguous)) result.contiguous = copy.contiguous;
    if (copy.vector > 1 && indexes(copy.run_along)) {
      result.run_along = copy.run_along;
      result.vector = copy.vector;
      result.beside = copy.beside;
    }
    const auto& blocks = mapping_.blocks;
    result.asynchronous = blocks.iterator >= 0 && blocks.slots > 1 && copy.way == GridCopy::Way::Asynchronous;
    return result;
  }

  const NestSpace& space_;
  const GridClusterMapping& mapping_;
  std::array<std::int64_t, 3> block_;
  std::vector<NestLoop> tiles_;
  std::vector<SpreadSpan> points_;
  bool has_partial_tiles_ = false;
};

}  // namespace

Nest nest_of(const NestSpace& space, const GridClusterMapping& mapping) {
  return NestOfGridMapping(space, mapping).run();
}

Nest nest_of(const Scop& scop, const ClusterView& cluster, const GridClusterMapping& mapping) {
  return nest_of(kernel_nest_space(scop, cluster), mapping);
}

}  // namespace tc::polyhedral
