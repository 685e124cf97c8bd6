#include "tc/strategy/choose_blocks.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/polyhedral/instances.h"
#include "tc/polyhedral/pack.h"
#include "tc/strategy/parallel_work.h"
#include "tc/strategy/vector_cost.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterMapping;
using polyhedral::ClusterStatement;
using polyhedral::ClusterView;
using polyhedral::MappingOptions;
using polyhedral::PackMapping;
using polyhedral::Scop;
using polyhedral::Statement;

/// Rows so many bytes apart are out of reach of what the processor prefetches on its own.
constexpr std::int64_t far_apart = 1024;

/// Lanes of a copy that are not worth being cut down to.
constexpr int least_even_lanes = 4;

std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

/// \p extent in equal blocks of at most \p most, multiples of \p unit.
std::int64_t equal_blocks(std::int64_t extent, std::int64_t most, std::int64_t unit) {
  auto count = ceil_div(extent, std::max(most / unit * unit, unit));
  return round_up(ceil_div(extent, count), unit);
}

class BlockChooser {
 public:
  BlockChooser(const Scop& scop, const ClusterView& cluster, const TiledReduction& tiled, const Target& target,
               const MappingOptions& options, ClusterMapping& mapping)
      : scop_(scop),
        cluster_(cluster),
        tiled_(tiled),
        statement_(scop.statement(tiled.entry.id)),
        box_(polyhedral::box(statement_.domain)),
        target_(target),
        options_(options),
        mapping_(mapping) {
    for (const auto& loop : tiled.entry.inner) {
      reduced_.push_back(loop.iterator);
      volume_ *= loop.iterator >= 0 ? box_[loop.iterator].extent() : 1;
    }
    matrices_ = mapping.dot.of_matrices();
    const auto& element = matrices_ ? statement_.reads.at(0) : statement_.write;
    element_bytes_ = byte_size(scop.tensor(polyhedral::range_name(element.relation)).type);
  }

  bool choose() {
    if (reduced_.empty() || contains(reduced_, -1) || tiled_.rows < 0 ||
        (!cluster_.permutable && cluster_.members.size() > 1))
      return false;
    for (std::size_t i = 0; i < statement_.reads.size() && options_.pack; ++i) choose_pack(static_cast<int>(i));
    if (!matrices_) choose_dot();
    choose_reduction();
    if (mapping_.packed.empty() && mapping_.reduction.iterator < 0) return false;
    rows_first_ = is_packed(false) && is_packed(true) && copies_less_with_rows_first();
    if (rows_first_) {
      for (auto& pack : mapping_.packed) pack.below_blocks = !pack.below_blocks;
      block(tiled_.columns, near_bytes());
      block(tiled_.rows, far_bytes());
    } else {
      if (is_packed(false)) block(tiled_.columns, near_bytes());
      if (is_packed(true)) block(tiled_.rows, near_bytes() / 2);
    }
    choose_outermost();
    copy_once();
    choose_above();
    drop_row_copies();
    return true;
  }

 private:
  const Scop& scop_;
  const ClusterView& cluster_;
  const TiledReduction& tiled_;
  const Statement& statement_;
  std::vector<polyhedral::Interval> box_;
  const Target& target_;
  const MappingOptions& options_;
  ClusterMapping& mapping_;
  std::vector<int> reduced_;
  std::int64_t volume_ = 1;  ///< instances that go into one result
  std::int64_t element_bytes_ = 4;
  bool matrices_ = false;    ///< the register tile is one of matrices
  bool rows_first_ = false;  ///< all rows of a block are copied before the columns, not the other way round

  int iterator(int member) const { return tiled_.entry.outer[member]; }
  std::int64_t extent(int member) const { return cluster_.members[member].extent(); }
  std::int64_t points(int member) const { return mapping_.members[member].points; }
  std::int64_t stride(int read, int iterator) const {
    return polyhedral::stride(scop_, statement_.reads[read], iterator);
  }
  std::int64_t bytes(int read) const {
    const auto& tensor = scop_.tensor(polyhedral::range_name(statement_.reads[read].relation));
    std::int64_t result = byte_size(tensor.type);
    for (auto size : tensor.extent) result *= size;
    return result;
  }
  bool is_packed(bool below_blocks) const {
    return std::any_of(mapping_.packed.begin(), mapping_.packed.end(),
                       [&](const PackMapping& p) { return p.below_blocks == below_blocks && !p.once; });
  }
  bool indexes(int read, int member) const {
    return iterator(member) >= 0 && contains(polyhedral::index_iterators(statement_, read), iterator(member));
  }

  void choose_pack(int read) {
    auto again = reuse(scop_, cluster_, tiled_.entry, read);
    if (again == 0) return;
    bool along_lanes = indexes(read, tiled_.columns), along_rows = indexes(read, tiled_.rows);
    if (matrices_) return choose_matrix_pack(read, along_lanes);
    if (along_lanes && !along_rows && lanes_want_copy(read, again)) add_pack(read, tiled_.columns, true, false);
    if (along_rows && !along_lanes && rows_want_copy(read, again))
      add_pack(read, tiled_.rows, stride(read, iterator(tiled_.rows)) == 1, true);
  }
  /// Columns are copied as the instruction wants them, rows unless they lie like that, each at the start of a cache
  /// line.
  void choose_matrix_pack(int read, bool columns) {
    if (columns) return add_pack(read, tiled_.columns, true, false);
    bool whole_lines = stride(read, iterator(tiled_.rows)) * element_bytes_ % Target::cache_line == 0;
    if (contiguous_along_steps(read) && whole_lines) return;
    int lanes = mapping_.dot.width * mapping_.dot.steps;
    bool across = stride(read, iterator(tiled_.rows)) == 1;
    while (across && points(tiled_.rows) % lanes != 0) lanes /= 2;
    mapping_.packed.push_back({statement_.id, read, iterator(tiled_.rows), points(tiled_.rows), false, true, lanes});
  }
  bool contiguous_along_steps(int read) const { return stride(read, mapping_.dot.iterator) == 1; }
  /// Iterations of the reduction's outermost loop in whole instructions.
  std::int64_t reduction_unit() const {
    if (matrices_)
      return mapping_.dot.iterator == reduced_.front() ? std::int64_t{mapping_.dot.width} * mapping_.dot.steps : 1;
    return volume_ == box_[reduced_.front()].extent() ? vector_lanes(scop_, statement_, target_) : 1;
  }
  bool lanes_want_copy(int read, std::int64_t again) const {
    if (stride(read, iterator(tiled_.columns)) != 1) return again >= 2;
    auto tiles = again / points(tiled_.rows);
    bool reused = tiles >= 8 || (tiles >= 3 && lies_far_apart(read, tiled_.columns) && bytes(read) > target_.l2_bytes);
    return reused && bytes(read) > target_.l1_bytes / 2 && extent(tiled_.columns) > points(tiled_.columns);
  }
  bool rows_want_copy(int read, std::int64_t again) const {
    bool reused = again / points(tiled_.columns) >= 4 || lies_far_apart(read, tiled_.rows);
    return reused && stride(read, reduced_.back()) != 1 && bytes(read) > target_.l1_bytes / 2;
  }
  /// Would a tile read a few lines here and there of a large tensor, contiguous along \p member, where a copy reads
  /// lines in a row?
  bool lies_far_apart(int read, int member) const {
    return stride(read, iterator(member)) == 1 && stride(read, reduced_.back()) * element_bytes_ >= far_apart &&
           bytes(read) > target_.l2_bytes / 4;
  }
  void add_pack(int read, int member, bool panel_last, bool below_blocks) {
    int lanes = vector_lanes(scop_, statement_, target_);
    while (panel_last && lanes / 2 >= points(member)) lanes /= 2;
    bool across = panel_last && stride(read, iterator(member)) != 1;
    if (across && box_[reduced_.back()].extent() % lanes != 0 && box_[reduced_.back()].extent() % (lanes / 2) == 0)
      lanes /= 2;
    auto even = polyhedral::even_lanes(scop_, statement_.reads[read], iterator(member), lanes);
    if (even >= least_even_lanes) lanes = even;
    mapping_.packed.push_back({statement_.id, read, iterator(member), points(member), panel_last, below_blocks, lanes});
  }

  /// Products of bytes are summed four at a time, where both factors can be had side by side.
  void choose_dot() {
    constexpr int width = 4;
    auto type = [&](std::size_t read) {
      return scop_.tensor(polyhedral::range_name(statement_.reads[read].relation)).type;
    };
    bool bytes =
        statement_.reads.size() == 2 && element_bytes_ == 4 && statement_.op == ReductionOp::Sum &&
        ((type(0) == DType::UInt8 && type(1) == DType::Int8) || (type(0) == DType::Int8 && type(1) == DType::UInt8));
    if (!bytes || target_.isa == Target::Isa::Plain || box_[reduced_.back()].extent() < width) return;
    for (int read : {0, 1}) {
      bool lanes = indexes(read, tiled_.columns);
      auto packed = std::any_of(mapping_.packed.begin(), mapping_.packed.end(),
                                [&](const PackMapping& p) { return p.read == read && p.panel_last; });
      if (lanes ? !packed : packed || stride(read, reduced_.back()) != 1) return;
    }
    mapping_.dot = {statement_.id, reduced_.back(), width};
  }

  /// Are the rows read from an array with the reduction as its other indices, so that blocks of it are blocks of
  /// memory?
  bool has_row_array() const {
    for (std::size_t i = 0; i < statement_.reads.size(); ++i)
      if (indexes(static_cast<int>(i), tiled_.rows)) return true;
    return false;
  }
  /// Do rows that run along the reduction stream by, used by fewer than four tiles of columns?
  bool rows_stream() const {
    for (std::size_t i = 0; i < statement_.reads.size(); ++i) {
      int read = static_cast<int>(i);
      if (!indexes(read, tiled_.rows)) continue;
      auto tiles = ceil_div(reuse(scop_, cluster_, tiled_.entry, read), points(tiled_.columns));
      if (tiles == 0 || tiles >= 4 || stride(read, reduced_.back()) != 1) return false;
    }
    return true;
  }
  /// Iterations of the reduction whose rows the first cache holds, or, where these stream by, whose panel the second
  /// one holds.
  std::int64_t most_iterations() const {
    if (!matrices_ && rows_stream()) return near_bytes() / (points(tiled_.columns) * element_bytes_);
    return row_bytes() / (points(tiled_.rows) * element_bytes_);
  }
  /// Cuts the outermost loop of the reduction, in whole vectors where that is possible.
  void choose_reduction() {
    if (options_.reduction_block > 0) return cut_reduction(options_.reduction_block);
    auto most = std::max<std::int64_t>(most_iterations(), 64);
    bool reused = extent(tiled_.rows) >= 4 * points(tiled_.rows) || !mapping_.packed.empty();
    if (volume_ <= most + most / 4 || !reused || !has_row_array()) return;
    auto whole = box_[reduced_.front()].extent();
    auto inner = volume_ / whole;
    cut_reduction(equal_blocks(whole, std::max<std::int64_t>(most / inner, 1), reduction_unit()));
  }
  /// What the rows of a tile may take. Those of matrices come from the second cache as fast as they are used up, and
  /// each block of the reduction costs a pass over the results.
  std::int64_t row_bytes() const { return matrices_ ? target_.l2_bytes / 16 : target_.l1_bytes * 2 / 3; }
  void cut_reduction(std::int64_t size) {
    if (size < box_[reduced_.front()].extent()) mapping_.reduction = {statement_.id, reduced_.front(), size};
  }
  /// Iterations of the reduction within one of its blocks.
  std::int64_t depth() const {
    const auto& cut = mapping_.reduction;
    return cut.iterator < 0 ? volume_ : volume_ / box_[cut.iterator].extent() * cut.size;
  }

  std::int64_t near_bytes() const { return target_.l2_bytes / 2; }
  std::int64_t far_bytes() const { return target_.l3_bytes / 2 / target_.cores; }
  std::int64_t iterations_in(std::int64_t bytes) const {
    return std::max<std::int64_t>(bytes / (depth() * element_bytes_), 1);
  }

  /// Blocks of columns each copy all rows again, unless threads copy these once, or blocks of rows all columns.
  bool copies_less_with_rows_first() const {
    if (threads_split_tile() && can_be_copied_once(tiled_.rows)) return false;
    auto rows = extent(tiled_.rows), columns = extent(tiled_.columns);
    auto blocks = [&](std::int64_t extent, std::int64_t most) {
      return std::max<std::int64_t>(options_.parallel ? target_.cores : 1, ceil_div(extent, iterations_in(most)));
    };
    auto column_blocks = blocks(columns, near_bytes()), row_blocks = blocks(rows, far_bytes());
    if (threads_split_tile() && can_be_copied_once(tiled_.columns)) columns /= 2;
    return rows * (column_blocks - 1) > columns * (row_blocks - 1);
  }

  /// Do threads run along rows or columns?
  bool threads_split_tile() const { return wants_threads() && other_member() < 0; }
  /// Has a cache room for a copy of all rows or all columns that threads share? A near one; or, for columns, of which a
  /// block stays in a near cache while rows pass, the last one, if that saves more than two copies.
  bool can_be_copied_once(int member) const {
    auto bytes = extent(member) * volume_ * element_bytes_;
    return bytes <= near_bytes() || (member == tiled_.columns && target_.cores > 3 && bytes <= target_.l3_bytes / 2);
  }

  void block(int member, std::int64_t most_bytes) {
    auto size = equal_blocks(extent(member), iterations_in(most_bytes), points(member));
    if (size < extent(member)) mapping_.members[member].block = size;
  }

  std::int64_t instances() const {
    std::int64_t result = volume_;
    for (const auto& member : cluster_.members) result *= member.extent();
    return result;
  }

  /// The member along an iterator that the user named for threads, -1 for none; rows and columns are then cut.
  int named_member() {
    for (std::size_t i = 0; i < cluster_.members.size(); ++i) {
      int member = static_cast<int>(i);
      if (iterator(member) < 0) continue;
      const auto& names = options_.parallel_along;
      if (!contains(names, statement_.iterators[iterator(member)])) continue;
      bool is_tiled = member == tiled_.rows || member == tiled_.columns;
      if (is_tiled ? split_for_cores(member) : extent(member) > 1) return member;
    }
    return -1;
  }
  /// A member beside rows and columns with enough iterations for all cores; those that index what is copied first come
  /// first, others only if nothing is.
  int other_member() const {
    int result = -1;
    for (int member : others()) {
      if (extent(member) < 4 * target_.cores) continue;
      if (indexes_copy(member, false)) return member;
      if (result < 0 || indexes_copy(member, true)) result = member;
    }
    return is_packed(false) ? -1 : result;
  }
  std::vector<int> others() const {
    std::vector<int> result;
    for (int member = 0; member < static_cast<int>(cluster_.members.size()); ++member)
      if (member != tiled_.rows && member != tiled_.columns) result.push_back(member);
    return result;
  }
  bool indexes_copy(int member, bool below_blocks) const {
    return std::any_of(mapping_.packed.begin(), mapping_.packed.end(),
                       [&](const PackMapping& p) { return p.below_blocks == below_blocks && indexes(p.read, member); });
  }

  bool wants_threads() const { return options_.parallel && target_.cores > 1 && instances() >= parallel_cluster; }
  void choose_outermost() {
    if (!wants_threads()) return;
    int member = named_member();
    if (member < 0) member = other_member();
    if (member < 0) member = split_member();
    if (member < 0) return;
    mapping_.outermost = member;
    mapping_.parallel = true;
    if (member == tiled_.rows || member == tiled_.columns) return;
    auto group = task_iterations(extent(member), instances() / extent(member), 8 * target_.cores);
    if (group > 1) mapping_.members[member].block = group;
  }
  /// Columns or rows, cut for all cores; -1 where there are too few.
  int split_member() {
    int first = rows_first_ ? tiled_.rows : tiled_.columns, second = rows_first_ ? tiled_.columns : tiled_.rows;
    int member = busy_cores(first) >= busy_cores(second) - 0.1 ? first : second;
    return split_for_cores(member) ? member : -1;
  }
  /// The share of all cores that is busy while equal blocks of whole tiles run.
  double busy_cores(int member) const {
    auto tiles = ceil_div(extent(member), points(member)), each = ceil_div(tiles, target_.cores);
    return static_cast<double>(tiles) / static_cast<double>(each * target_.cores);
  }
  /// Cuts \p member, rows or columns, so that every core gets a block: more would even out the load, but read the other
  /// operand more often.
  bool split_for_cores(int member) {
    auto& size = mapping_.members[member];
    auto each = round_up(ceil_div(extent(member), target_.cores), size.points);
    if (size.block > 0) each = std::min(each, size.block);
    if (each >= extent(member)) return false;
    size.block = each;
    return true;
  }
  /// What each core would copy for itself all of them copy once.
  void copy_once() {
    int member = mapping_.outermost;
    if (member < 0 || (member != tiled_.rows && member != tiled_.columns)) return;
    int copied = member == tiled_.rows ? tiled_.columns : tiled_.rows;
    for (auto& pack : mapping_.packed) pack.once = alone(pack.read, copied) && can_be_copied_once(copied);
  }
  /// Is \p member the only one that indexes \p read?
  bool alone(int read, int member) const {
    for (int other = 0; other < static_cast<int>(cluster_.members.size()); ++other)
      if (indexes(read, other) != (other == member)) return false;
    return true;
  }

  /// The loops above the copies: blocks of what is copied first, and its other members. Those stay below, as far as a
  /// copy has room, along which the tensor is contiguous, so that a copy reads whole lines, or for which copies of rows
  /// would be made again.
  void choose_above() {
    int first = rows_first_ ? tiled_.rows : tiled_.columns;
    auto members = others();
    std::erase_if(members, [&](int member) { return !indexes_copy(member, false); });
    std::stable_sort(members.begin(), members.end(), [&](int a, int b) { return is_adjacent(a) > is_adjacent(b); });
    auto room = room_beside(first);
    for (int member : members) {
      auto& block = mapping_.members[member].block;
      auto inside = is_adjacent(member) || repeats_rows(member) ? fitting(member, room) : 1;
      room /= inside;
      bool again = member == mapping_.outermost ? inside == 1 && block > 0 : inside < extent(member);
      if (again) mapping_.above.push_back(member);
      if (inside > 1 && inside < extent(member)) block = inside;
    }
    std::sort(mapping_.above.begin(), mapping_.above.end());
    if (mapping_.members[first].block > 0 && mapping_.outermost != first) mapping_.above.push_back(first);
  }
  bool is_adjacent(int member) const {
    return std::any_of(mapping_.packed.begin(), mapping_.packed.end(),
                       [&](const PackMapping& p) { return !p.below_blocks && stride(p.read, iterator(member)) == 1; });
  }
  bool repeats_rows(int member) const { return is_packed(true) && !indexes_copy(member, true); }
  /// How many blocks of \p member, rows or columns, the cache that they are made for holds.
  std::int64_t room_beside(int member) const {
    auto size = mapping_.members[member].block > 0 ? mapping_.members[member].block : extent(member);
    return std::max<std::int64_t>(iterations_in(rows_first_ ? far_bytes() : near_bytes()) / size, 1);
  }
  /// Iterations of \p member for which there is \p room: all, whole lines of a contiguous one, or 1. Threads share the
  /// outermost.
  std::int64_t fitting(int member, std::int64_t room) const {
    bool shared = member == mapping_.outermost;
    auto most = std::min(room, shared ? ceil_div(extent(member), target_.cores) : extent(member));
    if (most == extent(member)) return most;
    return shared || is_adjacent(member) ? equal_blocks(extent(member), std::max<std::int64_t>(most, 1), 1) : 1;
  }

  /// Rows are read where they are, if a copy would be used by few tiles or take too much room.
  void drop_row_copies() {
    if (rows_first_) return;
    std::erase_if(mapping_.packed, [&](const PackMapping& pack) {
      if (!pack.below_blocks || pack.once || (matrices_ && !contiguous_along_steps(pack.read)) ||
          lies_far_apart(pack.read, tiled_.rows))
        return false;
      auto uses = ceil_div(in_block(tiled_.columns), points(tiled_.columns)),
           size = in_block(tiled_.rows) * depth() * element_bytes_;
      for (int member : others()) {
        bool below = member != mapping_.outermost && !contains(mapping_.above, member);
        auto inside = below ? extent(member) : std::max<std::int64_t>(mapping_.members[member].block, 1);
        (indexes(pack.read, member) ? size : uses) *= inside;
      }
      return uses < 4 || size > near_bytes();
    });
  }
  std::int64_t in_block(int member) const {
    auto block = mapping_.members[member].block;
    return block > 0 ? block : extent(member);
  }
};

}  // namespace

std::int64_t reuse(const Scop& scop, const ClusterView& cluster, const ClusterStatement& entry, int read) {
  const auto& statement = scop.statement(entry.id);
  auto used = polyhedral::index_iterators(statement, read);
  const auto& name = polyhedral::range_name(statement.reads[read].relation);
  if (used.empty()) return 0;
  for (const auto& other : cluster.statements)
    if (polyhedral::touches(scop.statement(other.id).write, name)) return 0;
  std::int64_t result = 1;
  for (std::size_t i = 0; i < cluster.members.size(); ++i)
    if (entry.outer[i] >= 0 && !contains(used, entry.outer[i])) result *= cluster.members[i].extent();
  return result;
}

bool choose_blocks(const Scop& scop, const ClusterView& cluster, const TiledReduction& tiled, const Target& target,
                   const MappingOptions& options, ClusterMapping& mapping) {
  return BlockChooser(scop, cluster, tiled, target, options, mapping).choose();
}

}  // namespace tc::strategy
