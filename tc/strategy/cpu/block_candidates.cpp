#include "tc/strategy/cpu/block_candidates.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/base/count_product.h"
#include "tc/strategy/cost/fixed_order.h"
#include "tc/strategy/cost/vector_cost.h"
#include "tc/strategy/cpu/possible_packs.h"
#include "tc/strategy/cpu/thread_loops.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterMapping;
using polyhedral::PackMapping;
using Packs = std::vector<PackMapping>;

/// \p extent in equal blocks of at most \p most, multiples of \p unit.
std::int64_t equal_blocks(std::int64_t extent, std::int64_t most, std::int64_t unit) {
  auto count = ceil_div(extent, std::max(most / not_zero(unit) * unit, unit));
  return round_up(ceil_div(extent, count), unit);
}

/// Do \p a and \p b copy the same?
bool copy_the_same(const ReductionView& view, const PackMapping& a, const PackMapping& b) {
  const auto &first = view.statement.reads[static_cast<std::size_t>(a.read)].relation,
             &second = view.statement.reads[static_cast<std::size_t>(b.read)].relation;
  return polyhedral::range_name(first) == polyhedral::range_name(second) && first.is_equal(second);
}

/// \p packs in groups that copy the same.
std::vector<Packs> groups(const ReductionView& view, const Packs& packs) {
  std::vector<Packs> result;
  for (const auto& pack : packs) {
    auto group = std::find_if(result.begin(), result.end(),
                              [&](const Packs& each) { return copy_the_same(view, each.front(), pack); });
    if (group == result.end()) group = result.emplace(group);
    group->push_back(pack);
  }
  return result;
}

/// The sets of copies that a mapping may have, the smallest first: none, of each operand alone, and of all.
std::vector<Packs> sets_of_packs(const ReductionView& view) {
  if (!view.options.pack) return {{}};
  const auto possible = possible_packs(view);
  if (view.matrices) return {possible};
  const auto operands = groups(view, possible);
  std::vector<Packs> result{{}};
  result.insert(result.end(), operands.begin(), operands.end());
  if (operands.size() > 1) result.push_back(possible);
  return result;
}

/// Makes candidates, one after the other, in the mapping that \p view sees.
class BlockMaker {
 public:
  BlockMaker(const ReductionView& view, ClusterMapping& mapping) : view_(view), mapping_(mapping), plain_(mapping) {}

  std::vector<ClusterMapping> run() {
    if (!can_be_blocked()) return {};
    for (int read = 0; read < view_.read_count(); ++read)
      if (lies_in_panels(view_, read)) ready_.push_back(read);
    for (const auto& packs : sets_of_packs(view_)) {
      mapping_ = plain_;
      mapping_.packed = packs;
      for (auto size : reduction_blocks())
        for (bool rows_first : {false, true})
          if (!rows_first || (has_packs(false) && has_packs(true))) add_all(packs, size, rows_first);
    }
    return std::move(result_);
  }

 private:
  const ReductionView& view_;
  ClusterMapping& mapping_;
  const ClusterMapping plain_;
  std::vector<int> ready_;   ///< reads that lie as copies would
  bool rows_first_ = false;  ///< all rows of a block are copied before the columns, not the other way round
  std::vector<ClusterMapping> result_;

  /// Rows or columns: what is copied above the loops over blocks of the other.
  int first() const { return rows_first_ ? view_.rows : view_.columns; }
  int second() const { return rows_first_ ? view_.columns : view_.rows; }
  /// What a block of the first may take.
  std::int64_t first_bytes() const { return rows_first_ ? view_.far_bytes() : view_.near_bytes(); }

  /// Are there rows, do the reduction's loops run along iterators, and may outer members be cut?
  bool can_be_blocked() const {
    return !view_.reduced.empty() && !contains(view_.reduced, -1) && view_.rows >= 0 &&
           (view_.cluster.permutable || view_.member_count() <= 1);
  }
  bool has_packs(bool below_blocks) const {
    return std::any_of(mapping_.packed.begin(), mapping_.packed.end(),
                       [&](const PackMapping& pack) { return pack.below_blocks == below_blocks; });
  }

  /// Adds the mappings with \p packs, the reduction in blocks of \p size, and any loop on threads.
  void add_all(const Packs& packs, std::int64_t size, bool rows_first) {
    mapping_ = plain_;
    mapping_.packed = packs;
    rows_first_ = rows_first;
    if (rows_first)
      for (auto& pack : mapping_.packed) pack.below_blocks = !pack.below_blocks;
    if (!view_.matrices) mapping_.dot = choose_dot(view_);
    if (size > 0) mapping_.reduction = {view_.statement.id, view_.reduced.front(), size};
    if (has_packs(false)) block(first(), first_bytes());
    if (has_packs(true)) block(second(), rows_first ? view_.near_bytes() : view_.near_bytes() / 2);
    const auto blocked = mapping_;
    for (const auto& loop : thread_loops(view_)) {
      mapping_ = blocked;
      run_on_threads(loop);
      add();
      if (copy_once()) add();
    }
  }
  /// Adds the mapping with what follows from its copies.
  void add() {
    const auto without = mapping_;
    choose_above();
    if (mapping_.dot.iterator < 0)
      std::erase_if(mapping_.packed, [&](const PackMapping& pack) { return contains(ready_, pack.read); });
    if (!contains(result_, mapping_)) result_.push_back(mapping_);
    mapping_ = without;
  }

  /// Sizes of the blocks of the reduction's outermost loop; 0: all of it.
  std::vector<std::int64_t> reduction_blocks() const {
    if (has_fixed_order(view_.scop, view_.statement, view_.options)) return {0};
    auto whole = view_.box[view_.reduced.front()].extent();
    if (auto given = view_.options.reduction_block; given > 0) return {given < whole ? given : 0};
    std::vector<std::int64_t> result{0};
    for (auto most : {iterations_in(row_bytes(), view_.rows), iterations_in(view_.near_bytes(), view_.columns)}) {
      if (view_.volume <= most) continue;
      const auto inner = view_.inner_volume(view_.reduced.front());
      auto size = equal_blocks(whole, std::max<std::int64_t>(most / inner, 1), reduction_unit());
      if (size < whole && !contains(result, size)) result.push_back(size);
    }
    return result;
  }
  /// What the rows of a tile may take. Those of matrices come from the second cache as fast as they are used up, and
  /// each block of the reduction costs a pass over the results.
  std::int64_t row_bytes() const { return view_.matrices ? view_.target.l2_bytes / 16 : view_.target.l1_bytes * 2 / 3; }
  /// Iterations of the reduction for which a tile's \p member takes some \p bytes, a quarter more at most.
  std::int64_t iterations_in(std::int64_t bytes, int member) const {
    const auto row = count_product(view_.points(member), view_.element_bytes);
    return bytes / not_zero(row) * 5 / 4;
  }
  /// Iterations of the reduction's outermost loop in whole instructions.
  std::int64_t reduction_unit() const {
    int outermost = view_.reduced.front();
    const auto& dot = mapping_.dot;
    if (view_.matrices) return dot.iterator == outermost ? std::int64_t{dot.width} * dot.steps : 1;
    bool alone = view_.volume == view_.box[outermost].extent();
    return alone ? vector_lanes(view_.scop, view_.statement, view_.target) : 1;
  }

  void block(int member, std::int64_t most_bytes) {
    auto size = equal_blocks(view_.extent(member), view_.iterations_in(most_bytes), view_.points(member));
    if (size < view_.extent(member)) mapping_.members[member].block = size;
  }

  void run_on_threads(const ThreadedLoop& loop) {
    if (loop.member < 0) return;
    mapping_.outermost = loop.member;
    mapping_.parallel = true;
    if (loop.block > 0) mapping_.members[loop.member].block = loop.block;
  }
  /// Are there copies that threads can make once for all? They do, then.
  bool copy_once() {
    bool any = false;
    for (auto& pack : mapping_.packed) any |= pack.once = can_be_copied_once(view_, pack);
    return any;
  }

  /// The loops above the copies: other members that index what is copied first, as far as they do not stay below, and
  /// blocks of what is copied.
  void choose_above() {
    auto members = view_.others();
    std::erase_if(members, [&](int member) { return !view_.indexes_copy(member, false); });
    std::stable_sort(members.begin(), members.end(), [&](int a, int b) { return is_adjacent(a) > is_adjacent(b); });
    auto room = std::max<std::int64_t>(view_.iterations_in(first_bytes()) / not_zero(view_.in_block(first())), 1);
    for (int member : members) {
      auto& block = mapping_.members[member].block;
      auto inside = is_adjacent(member) || repeats_rows(member) ? fitting(member, room) : 1;
      room /= not_zero(inside);
      bool again = member == mapping_.outermost ? inside == 1 && block > 0 : inside < view_.extent(member);
      if (again) mapping_.above.push_back(member);
      if (inside > 1 && inside < view_.extent(member)) block = inside;
    }
    std::sort(mapping_.above.begin(), mapping_.above.end());
    if (mapping_.members[first()].block > 0 && mapping_.outermost != first()) mapping_.above.push_back(first());
  }
  /// Does what is copied first lie contiguous along \p member, so that a copy reads whole lines?
  bool is_adjacent(int member) const {
    return std::any_of(mapping_.packed.begin(), mapping_.packed.end(), [&](const PackMapping& pack) {
      return !pack.below_blocks && view_.stride(pack.read, view_.iterator(member)) == 1;
    });
  }
  /// Would copies be made again in each iteration of \p member, above, that do not depend on it?
  bool repeats_rows(int member) const { return view_.is_packed(true) && !view_.indexes_copy(member, true); }
  /// Iterations of \p member for which there is \p room: all, whole lines of a contiguous one, or 1. Threads share the
  /// outermost.
  std::int64_t fitting(int member, std::int64_t room) const {
    bool shared = member == mapping_.outermost;
    auto extent = view_.extent(member);
    auto most = std::min(room, shared ? ceil_div(extent, view_.target.cores) : extent);
    if (most == extent) return most;
    return shared || is_adjacent(member) ? equal_blocks(extent, std::max<std::int64_t>(most, 1), 1) : 1;
  }
};

}  // namespace

std::vector<ClusterMapping> block_candidates(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                                             const TiledReduction& tiled, const Target& target,
                                             const polyhedral::MappingOptions& options, const ClusterMapping& mapping) {
  auto made = mapping;
  ReductionView view(scop, cluster, tiled, target, options, made);
  return BlockMaker(view, made).run();
}

}  // namespace tc::strategy
