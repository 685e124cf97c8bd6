#include "tc/strategy/cpu/matrix_tile.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/polyhedral/map_cpu/pack.h"
#include "tc/strategy/cost/fixed_order.h"
#include "tc/strategy/cpu/possible_packs.h"

namespace tc::strategy {
namespace {

using polyhedral::Access;
using polyhedral::ClusterStatement;
using polyhedral::ClusterView;
using polyhedral::Scop;
using polyhedral::Statement;

constexpr std::int64_t side = Target::matrix_tile_rows;

/// Rows that have to use a copy of the columns' factor, and the share of a tile's products that has to count.
constexpr std::int64_t least_uses = 16;
constexpr double least_fill = 0.25;

bool is_byte(DType type) { return type == DType::Int8 || type == DType::UInt8; }

double fill(std::int64_t extent, std::int64_t size) {
  return static_cast<double>(extent) / static_cast<double>(round_up(extent, size));
}

class Chooser {
 public:
  Chooser(const Scop& scop, const ClusterView& cluster, const ClusterStatement& entry)
      : scop_(scop),
        cluster_(cluster),
        entry_(entry),
        statement_(scop.statement(entry.id)),
        box_(polyhedral::box(statement_.domain)) {}

  std::optional<MatrixTile> choose() {
    if (!has_types() || !(cluster_.permutable || cluster_.members.size() == 1) || !find_members() || !find_steps())
      return std::nullopt;
    if (copy_uses(scop_, cluster_, entry_, column_read_) < least_uses) return std::nullopt;
    bool row_copy_possible = copy_uses(scop_, cluster_, entry_, 1 - column_read_) > 0;
    if (!contiguous_along_steps(1 - column_read_, result_.dot.iterator) && !row_copy_possible) return std::nullopt;
    choose_size();
    auto steps = result_.dot.width * result_.dot.steps;
    double share = fill(extent(result_.rows), side) * fill(extent(result_.columns), side) *
                   fill(box_[result_.dot.iterator].extent(), steps);
    return share >= least_fill ? std::optional(result_) : std::nullopt;
  }

 private:
  const Scop& scop_;
  const ClusterView& cluster_;
  const ClusterStatement& entry_;
  const Statement& statement_;
  std::vector<polyhedral::Interval> box_;
  MatrixTile result_;
  int column_read_ = -1;

  std::int64_t extent(int member) const { return cluster_.members[member].extent(); }
  std::int64_t stride(const Access& access, int iterator) const { return polyhedral::stride(scop_, access, iterator); }
  const Access& read(int number) const { return statement_.reads.at(number); }
  DType type(const Access& access) const { return scop_.tensor(polyhedral::range_name(access.relation)).type; }
  bool moves(const Access& access, int iterator) const { return iterator >= 0 && stride(access, iterator) != 0; }

  bool has_types() {
    if (!statement_.product || statement_.op != ReductionOp::Sum || statement_.reads.size() != 2) return false;
    for (const auto& access : statement_.reads)
      if (!access.exact || !access.function.isa_multi_aff()) return false;
    auto a = type(read(0)), b = type(read(1)), sum = type(statement_.write);
    bool halves = a == DType::BFloat16 && b == a && sum == DType::Float32,
         bytes = is_byte(a) && is_byte(b) && sum == DType::Int32;
    result_.dot = {statement_.id, -1, halves ? 2 : 4, Target::matrix_tile_rows};
    return halves || bytes;
  }

  bool find_members() {
    for (std::size_t i = 0; i < cluster_.members.size(); ++i)
      if (entry_.outer[i] >= 0 && stride(statement_.write, entry_.outer[i]) == 1) result_.columns = static_cast<int>(i);
    if (result_.columns < 0) return false;
    int column = entry_.outer[result_.columns];
    bool first = moves(read(0), column), second = moves(read(1), column);
    if (first == second) return false;
    column_read_ = first ? 0 : 1;
    for (std::size_t i = 0; i < cluster_.members.size(); ++i) {
      int iterator = entry_.outer[i], member = static_cast<int>(i);
      if (iterator < 0 || member == result_.columns || moves(read(column_read_), iterator) ||
          !moves(read(1 - column_read_), iterator))
        continue;
      if (stride(statement_.write, iterator) == polyhedral::unknown_stride) continue;
      if (result_.rows < 0 || extent(member) > extent(result_.rows)) result_.rows = member;
    }
    return result_.rows >= 0;
  }

  bool contiguous_along_steps(int number, int iterator) const { return stride(read(number), iterator) == 1; }

  bool find_steps() {
    for (const auto& loop : entry_.inner) {
      if (loop.iterator < 0 || !moves(read(0), loop.iterator) || !moves(read(1), loop.iterator)) continue;
      auto rank = [&](int iterator) {
        return std::pair(contiguous_along_steps(1 - column_read_, iterator), box_[iterator].extent());
      };
      if (result_.dot.iterator < 0 || rank(loop.iterator) > rank(result_.dot.iterator))
        result_.dot.iterator = loop.iterator;
    }
    return result_.dot.iterator >= 0;
  }

  void choose_size() {
    double best = 0;
    for (auto [r, c] : {std::pair<std::int64_t, std::int64_t>{2, 2}, {3, 1}, {1, 3}, {2, 1}, {1, 2}, {1, 1}}) {
      auto products_a_load = static_cast<double>(r * c) / static_cast<double>(r * c + r + c);
      auto score = fill(extent(result_.rows), side * r) * fill(extent(result_.columns), side * c) * products_a_load;
      if (score <= best) continue;
      best = score;
      result_.row_points = side * r;
      result_.column_points = side * c;
    }
  }
};

}  // namespace

std::optional<MatrixTile> choose_matrix_tile(const Scop& scop, const ClusterView& cluster,
                                             const ClusterStatement& entry, const Target& target,
                                             const polyhedral::MappingOptions& options) {
  if (has_fixed_order(scop, scop.statement(entry.id), options)) return std::nullopt;
  bool free = options.promote && options.pack && options.vectorise && options.tile.empty() &&
              options.register_tile.empty() && options.vector_along.empty();
  if (!target.matrix_tiles || target.vector_bytes() < 64 || !free) return std::nullopt;
  return Chooser(scop, cluster, entry).choose();
}

}  // namespace tc::strategy
