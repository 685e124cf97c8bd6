#include "tc/strategy/cpu/choose_blocks.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/strategy/cost/vector_cost.h"
#include "tc/strategy/cpu/choose_packs.h"
#include "tc/strategy/cpu/choose_threads.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterMapping;
using polyhedral::PackMapping;

/// \p extent in equal blocks of at most \p most, multiples of \p unit.
std::int64_t equal_blocks(std::int64_t extent, std::int64_t most, std::int64_t unit) {
  auto count = ceil_div(extent, std::max(most / unit * unit, unit));
  return round_up(ceil_div(extent, count), unit);
}

class BlockChooser {
 public:
  /// \p view sees what this chooses in \p mapping.
  BlockChooser(const ReductionView& view, ClusterMapping& mapping) : view_(view), mapping_(mapping) {}

  bool choose() {
    if (!can_be_blocked()) return false;
    if (view_.options.pack) mapping_.packed = choose_packs(view_);
    if (!view_.matrices) mapping_.dot = choose_dot(view_);
    choose_reduction();
    if (mapping_.packed.empty() && mapping_.reduction.iterator < 0) return false;
    choose_order();
    if (view_.is_packed(false)) block(first(), first_bytes());
    if (view_.is_packed(true)) block(second(), rows_first_ ? view_.near_bytes() : view_.near_bytes() / 2);
    choose_outermost();
    for (auto& pack : mapping_.packed) pack.once = is_copied_once(view_, pack);
    choose_above();
    drop_row_copies();
    drop_ready_copies();
    return true;
  }

 private:
  const ReductionView& view_;
  ClusterMapping& mapping_;
  bool rows_first_ = false;  ///< all rows of a block are copied before the columns, not the other way round

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

  /// Are the rows read from an array with the reduction as its other indices, so that blocks of it are blocks of
  /// memory?
  bool has_row_array() const {
    for (int read = 0; read < view_.read_count(); ++read)
      if (view_.indexes(read, view_.rows)) return true;
    return false;
  }
  /// Do rows that run along the reduction stream by, used by fewer than four tiles of columns?
  bool rows_stream() const {
    for (int read = 0; read < view_.read_count(); ++read) {
      if (!view_.indexes(read, view_.rows)) continue;
      auto tiles = ceil_div(copy_uses(view_.scop, view_.cluster, view_.entry, read), view_.points(view_.columns));
      if (tiles == 0 || tiles >= 4 || view_.stride(read, view_.reduced.back()) != 1) return false;
    }
    return true;
  }
  /// What the rows of a tile may take. Those of matrices come from the second cache as fast as they are used up, and
  /// each block of the reduction costs a pass over the results.
  std::int64_t row_bytes() const { return view_.matrices ? view_.target.l2_bytes / 16 : view_.target.l1_bytes * 2 / 3; }
  /// Iterations of the reduction whose rows have room, or, where these stream by, whose panel the second cache holds.
  std::int64_t most_iterations() const {
    bool panels = !view_.matrices && rows_stream();
    auto bytes = panels ? view_.near_bytes() : row_bytes();
    return bytes / (view_.points(panels ? view_.columns : view_.rows) * view_.element_bytes);
  }
  /// Iterations of the reduction's outermost loop in whole instructions.
  std::int64_t reduction_unit() const {
    const auto& dot = mapping_.dot;
    int outermost = view_.reduced.front();
    if (view_.matrices) return dot.iterator == outermost ? std::int64_t{dot.width} * dot.steps : 1;
    bool alone = view_.volume == view_.box[outermost].extent();
    return alone ? vector_lanes(view_.scop, view_.statement, view_.target) : 1;
  }
  /// Cuts the outermost loop of the reduction, in whole vectors where that is possible.
  void choose_reduction() {
    if (view_.options.reduction_block > 0) return cut_reduction(view_.options.reduction_block);
    auto most = std::max<std::int64_t>(most_iterations(), 64) * 5 / 4;
    bool reused = view_.extent(view_.rows) >= 4 * view_.points(view_.rows) || !mapping_.packed.empty();
    if (view_.volume <= most || !reused || !has_row_array()) return;
    auto whole = view_.box[view_.reduced.front()].extent();
    auto inner = view_.volume / whole;
    cut_reduction(equal_blocks(whole, std::max<std::int64_t>(most / inner, 1), reduction_unit()));
  }
  void cut_reduction(std::int64_t size) {
    int outermost = view_.reduced.front();
    if (size < view_.box[outermost].extent()) mapping_.reduction = {view_.statement.id, outermost, size};
  }

  /// Which copies stand above the others: those of columns, where rows first would not copy less.
  void choose_order() {
    rows_first_ = view_.is_packed(false) && view_.is_packed(true) && copies_less_with_rows_first();
    if (!rows_first_) return;
    for (auto& pack : mapping_.packed) pack.below_blocks = !pack.below_blocks;
  }
  /// Blocks of columns each copy all rows again, unless threads copy these once, or blocks of rows all columns.
  bool copies_less_with_rows_first() const {
    bool split = threads_split_tile(view_);
    if (split && can_be_copied_once(view_, view_.rows)) return false;
    auto rows = view_.extent(view_.rows), columns = view_.extent(view_.columns);
    auto blocks = [&](std::int64_t extent, std::int64_t most) {
      auto least = view_.options.parallel ? view_.target.cores : 1;
      return std::max<std::int64_t>(least, ceil_div(extent, view_.iterations_in(most)));
    };
    auto column_blocks = blocks(columns, view_.near_bytes()), row_blocks = blocks(rows, view_.far_bytes());
    if (split && can_be_copied_once(view_, view_.columns)) columns /= 2;
    return rows * (column_blocks - 1) > columns * (row_blocks - 1);
  }
  void block(int member, std::int64_t most_bytes) {
    auto size = equal_blocks(view_.extent(member), view_.iterations_in(most_bytes), view_.points(member));
    if (size < view_.extent(member)) mapping_.members[member].block = size;
  }

  void choose_outermost() {
    auto threaded = choose_threads(view_, first());
    if (threaded.member < 0) return;
    mapping_.outermost = threaded.member;
    mapping_.parallel = true;
    if (threaded.block > 0) mapping_.members[threaded.member].block = threaded.block;
  }
  /// The loops above the copies: other members that index what is copied first, as far as they do not stay below, and
  /// blocks of what is copied.
  void choose_above() {
    auto members = view_.others();
    std::erase_if(members, [&](int member) { return !view_.indexes_copy(member, false); });
    std::stable_sort(members.begin(), members.end(), [&](int a, int b) { return is_adjacent(a) > is_adjacent(b); });
    auto room = std::max<std::int64_t>(view_.iterations_in(first_bytes()) / view_.in_block(first()), 1);
    for (int member : members) {
      auto& block = mapping_.members[member].block;
      auto inside = is_adjacent(member) || repeats_rows(member) ? fitting(member, room) : 1;
      room /= inside;
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

  void drop_ready_copies() {
    if (mapping_.dot.iterator >= 0) return;
    std::erase_if(mapping_.packed, [&](const PackMapping& pack) { return lies_in_panels(view_, pack.read); });
  }
  void drop_row_copies() {
    if (rows_first_) return;
    std::erase_if(mapping_.packed, [&](const PackMapping& pack) {
      return pack.below_blocks && !pack.once && !row_copy_pays(view_, pack);
    });
  }
};

}  // namespace

bool choose_blocks(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster, const TiledReduction& tiled,
                   const Target& target, const polyhedral::MappingOptions& options, ClusterMapping& mapping) {
  ReductionView view(scop, cluster, tiled, target, options, mapping);
  return BlockChooser(view, mapping).choose();
}

}  // namespace tc::strategy
