#include "tc/strategy/choose_mapping.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/base/count_product.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/strategy/choose_blocks.h"
#include "tc/strategy/choose_packs.h"
#include "tc/strategy/matrix_tile.h"
#include "tc/strategy/parallel_work.h"
#include "tc/strategy/register_tile.h"
#include "tc/strategy/vector_cost.h"

namespace tc::strategy {
namespace {

using polyhedral::Access;
using polyhedral::ClusterMapping;
using polyhedral::ClusterStatement;
using polyhedral::ClusterView;
using polyhedral::MappingOptions;
using polyhedral::MemberMapping;
using polyhedral::Scop;
using polyhedral::Statement;
using polyhedral::StatementMapping;

/// What a tile whose lanes run along the reduction has to save of the loads, to make up for the lanes it combines.
constexpr double least_gain = 3;

/// The longest loop that is unrolled to read what its iterations share once.
constexpr std::int64_t widest_window = 7;

class Chooser {
 public:
  Chooser(const Scop& scop, const ClusterView& cluster, const Target& target, const MappingOptions& options)
      : scop_(scop), cluster_(cluster), target_(target), options_(options), heaviest_(cluster.statements.front()) {
    for (const auto& statement : cluster.statements) {
      work_.push_back(polyhedral::instance_count(scop.statement(statement.id).domain));
      if (work_.back() > polyhedral::instance_count(scop.statement(heaviest_.id).domain)) heaviest_ = statement;
    }
  }

  ClusterMapping choose() {
    mapping_.members.resize(cluster_.members.size());
    for (std::size_t i = 0; i < cluster_.members.size() && i < options_.tile.size(); ++i)
      mapping_.members[i].block = options_.tile[i];
    if (options_.vectorise) choose_vectors();
    if (options_.promote && !cluster_.members.empty()) choose_staged();
    choose_outermost();
    return mapping_;
  }

 private:
  /// The outer member whose iterator in \p statement is \p iterator, -1 for none.
  static int member_of(const ClusterStatement& statement, int iterator) {
    for (std::size_t i = 0; i < statement.outer.size(); ++i)
      if (iterator >= 0 && statement.outer[i] == iterator) return static_cast<int>(i);
    return -1;
  }

  static std::vector<int> outer_candidates(const ClusterStatement& statement) {
    std::vector<int> result;
    for (int iterator : statement.outer)
      if (iterator >= 0) result.push_back(iterator);
    return result;
  }
  const Statement& statement(const ClusterStatement& entry) const { return scop_.statement(entry.id); }
  bool is_kept(const ClusterStatement& entry, int iterator) const {
    return contains(polyhedral::kept_dimensions(statement(entry)), iterator);
  }
  /// Does \p entry reduce in loops of its own, and in nothing but these, without reading what it accumulates?
  bool is_reduction(const ClusterStatement& entry) const {
    if (!statement(entry).accumulates || entry.inner.empty()) return false;
    auto target = polyhedral::range_name(statement(entry).write.relation);
    for (const auto& read : statement(entry).reads)
      if (polyhedral::touches(read, target)) return false;
    for (const auto& loop : entry.inner)
      if (loop.shared || (loop.iterator >= 0 && is_kept(entry, loop.iterator))) return false;
    return statement(entry).write.function.isa_multi_aff();
  }
  std::vector<int> inner_candidates(const ClusterStatement& entry) const {
    std::vector<int> result;
    bool reduction = is_reduction(entry);
    for (const auto& loop : entry.inner) {
      if (loop.iterator < 0) continue;
      bool kept = !statement(entry).accumulates || is_kept(entry, loop.iterator);
      if (reduction || (loop.coincident && kept)) result.push_back(loop.iterator);
    }
    return result;
  }
  /// What registers and packed copies save \p entry, where it may use them.
  CopiedReads copied_reads(const ClusterStatement& entry) const {
    CopiedReads result;
    if (!options_.promote || entry.id != heaviest_.id || !is_reduction(entry)) return result;
    auto box = polyhedral::box(statement(entry).domain);
    for (const auto& loop : entry.inner)
      if (loop.iterator >= 0)
        result.reduced = count_product(result.reduced, std::max<std::int64_t>(1, box[loop.iterator].extent()));
    if (!options_.pack || !options_.tile.empty() || !(cluster_.permutable || cluster_.members.size() == 1))
      return result;
    for (std::size_t i = 0; i < statement(entry).reads.size(); ++i)
      result.reuse.push_back(reuse(scop_, cluster_, entry, static_cast<int>(i)));
    return result;
  }
  VectorChoice best(const ClusterStatement& entry, const std::vector<int>& candidates) const {
    return best_vector(scop_, statement(entry), candidates, target_, copied_reads(entry));
  }

  /// The extent of a member, within a block where the user gave one.
  std::int64_t extent(int member) const {
    auto whole = cluster_.members[member].extent();
    auto block = mapping_.members[member].block;
    return block > 0 ? std::min(block, whole) : whole;
  }

  /// Those of \p candidates the user named for lanes; all of them where none is.
  std::vector<int> preferred(const ClusterStatement& entry, const std::vector<int>& candidates) const {
    auto named = candidates;
    std::erase_if(named, [&](int i) { return !contains(options_.vector_along, statement(entry).iterators[i]); });
    return named.empty() ? candidates : named;
  }

  /// Lanes for each statement, and the register tile: along the outer member the heaviest statement wants, else along
  /// inner loops of their own.
  void choose_vectors() {
    if (is_reduction(heaviest_))
      if (auto tile = choose_matrix_tile(scop_, cluster_, heaviest_, target_, options_)) return take_matrix_tile(*tile);
    auto candidates = outer_candidates(heaviest_);
    auto inner = inner_candidates(heaviest_);
    candidates.insert(candidates.end(), inner.begin(), inner.end());
    auto first = best(heaviest_, preferred(heaviest_, candidates));
    int member = member_of(heaviest_, first.iterator);
    if (member >= 0) mapping_.members[member].points = lanes_within(first.lanes, extent(member));
    if (first.iterator >= 0 && is_reduction(heaviest_))
      choose_tile(first, member);
    else if (member >= 0)
      choose_lines(first);
    for (const auto& entry : cluster_.statements) choose_lanes(entry, member);
    if (lane_member_ < 0 && mapping_.register_tile) choose_copy_lanes();
    if (lane_member_ >= 0 && lane_count_ > 1) mapping_.copies = {"", lane_member_, lane_count_};
  }

  /// The heaviest statement multiplies matrices; the others have lanes along its columns.
  void take_matrix_tile(const MatrixTile& tile) {
    mapping_.members[tile.rows].points = tile.row_points;
    mapping_.members[tile.columns].points = tile.column_points;
    mapping_.register_tile = true;
    mapping_.dot = tile.dot;
    blocked_ = choose_blocks(scop_, cluster_, {heaviest_, tile.rows, tile.columns}, target_, options_, mapping_);
    lane_member_ = tile.columns;
    lane_count_ = vector_lanes(scop_, statement(heaviest_), target_);
    for (const auto& entry : cluster_.statements)
      if (entry.id != heaviest_.id) choose_lanes(entry, tile.columns);
    mapping_.copies = {"", lane_member_, lane_count_};
  }

  static int lanes_within(int lanes, std::int64_t extent) {
    while (lanes > 1 && lanes / 2 >= extent) lanes /= 2;
    return lanes;
  }

  void choose_tile(const VectorChoice& first, int member) {
    std::vector<std::int64_t> trips;
    for (std::size_t i = 0; i < cluster_.members.size(); ++i)
      trips.push_back(
          ceil_div(extent(static_cast<int>(i)), static_cast<int>(i) == member ? mapping_.members[i].points : 1));
    std::vector<Operand> operands;
    bool cut = member >= 0 && extent(member) % mapping_.members[member].points != 0;
    for (const auto& read : statement(heaviest_).reads) {
      operands.push_back(operand(read, first.iterator));
      operands.back().cut = cut && operands.back().vector;
    }
    auto tile = choose_register_tile(operands, trips, member, target_, options_.register_tile);
    if (member < 0 && tile.gain < least_gain) return;
    if (member >= 0 && find_window(tile, operands))
      tile = choose_window_tile(operands, trips, tile, target_, options_.register_tile);
    if (tile.row_count == 1) mapping_.window = {};
    mapping_.register_tile = true;
    if (tile.rows >= 0) mapping_.members[tile.rows].points *= tile.row_count;
    if (tile.columns >= 0) mapping_.members[tile.columns].points *= tile.column_count;
    if (member >= 0 && options_.promote && options_.tile.empty())
      blocked_ = choose_blocks(scop_, cluster_, {heaviest_, tile.rows, member}, target_, options_, mapping_);
    if (mapping_.dot.iterator >= 0) mapping_.window = {};
  }

  /// Looks for a short loop of the reduction that moves what the rows of \p tile read as the rows do, where each
  /// accumulator has a vector of its own to read: notes it in the mapping and in \p operands.
  bool find_window(const RegisterTile& tile, std::vector<Operand>& operands) {
    if (tile.rows < 0 || heaviest_.outer[tile.rows] < 0) return false;
    auto box = polyhedral::box(statement(heaviest_).domain);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      auto row = polyhedral::stride(scop_, statement(heaviest_).reads[i], heaviest_.outer[tile.rows]);
      if (!operands[i].vector || row <= 0) continue;
      for (const auto& loop : heaviest_.inner) {
        auto extent = loop.iterator < 0 ? 0 : box[loop.iterator].extent();
        if (extent < 2 || extent > widest_window) continue;
        auto along = polyhedral::stride(scop_, statement(heaviest_).reads[i], loop.iterator);
        if (along <= 0 || row % along != 0 || row / along >= extent) continue;
        operands[i].window = extent;
        operands[i].step = row / along;
        mapping_.window = {heaviest_.id, loop.iterator, heaviest_.outer[tile.rows], static_cast<int>(extent),
                           static_cast<int>(row / along)};
        return true;
      }
    }
    return false;
  }

  /// Points along the members in which accesses are contiguous that are not along the lanes, a cache line of them:
  /// every line is used whole while it is near. Without inner loops, squares of them are transposed in registers.
  void choose_lines(const VectorChoice& lanes) {
    for (const auto* access : polyhedral::accesses(statement(heaviest_))) {
      auto along = polyhedral::stride(scop_, *access, lanes.iterator);
      if (along == 0 || along == 1 || along == polyhedral::unknown_stride) continue;
      auto line = Target::cache_line / byte_size(scop_.tensor(polyhedral::range_name(access->relation)).type);
      for (std::size_t i = 0; i < cluster_.members.size(); ++i) {
        int iterator = heaviest_.outer[i];
        if (iterator < 0 || polyhedral::stride(scop_, *access, iterator) != 1 || mapping_.members[i].points > 1)
          continue;
        if (extent(static_cast<int>(i)) <= line) continue;
        mapping_.members[i].points = line;
        mapping_.register_tile = heaviest_.inner.empty() && lanes.lanes <= target_.vector_registers();
      }
    }
  }

  Operand operand(const Access& read, int lane_iterator) const {
    Operand result;
    auto changes = [&](int iterator) { return iterator >= 0 && polyhedral::stride(scop_, read, iterator) != 0; };
    for (int iterator : heaviest_.outer) result.members.push_back(changes(iterator));
    result.vector = changes(lane_iterator);
    result.across = std::any_of(heaviest_.outer.begin(), heaviest_.outer.end(), [&](int iterator) {
      return iterator >= 0 && polyhedral::stride(scop_, read, iterator) == 1;
    });
    return result;
  }

  /// Does \p entry touch what the register tile of the heaviest statement accumulates? Registers hold vectors along one
  /// member only.
  bool shares_accumulators(const ClusterStatement& entry) const {
    if (!mapping_.register_tile || mapping_.reduction.iterator >= 0) return false;
    auto target = polyhedral::range_name(statement(heaviest_).write.relation);
    auto all = polyhedral::accesses(statement(entry));
    return std::any_of(all.begin(), all.end(),
                       [&](const Access* access) { return polyhedral::touches(*access, target); });
  }

  /// Lanes of one statement: along \p member, along a loop of its own, or, in a register tile, along another tiled
  /// member.
  void choose_lanes(const ClusterStatement& entry, int member) {
    auto candidates = inner_candidates(entry);
    for (std::size_t i = 0; i < cluster_.members.size(); ++i)
      if (mapping_.members[i].points > 1 && entry.outer[i] >= 0) candidates.push_back(entry.outer[i]);
    auto choice = best(entry, preferred(entry, candidates));
    if (member >= 0 && entry.outer[member] >= 0 && shares_accumulators(entry))
      choice = {entry.outer[member], vector_lanes(scop_, statement(heaviest_), target_, heaviest_.outer[member]), 0};
    if (choice.iterator < 0) return;
    StatementMapping lanes{entry.id, choice.iterator, choice.lanes};
    int own = member_of(entry, choice.iterator);
    if (own >= 0) {
      lanes.lanes = lanes_within(choice.lanes, mapping_.members[own].points);
      if (own == member || lane_member_ < 0) {
        lane_member_ = own;
        lane_count_ = lanes.lanes;
      }
    } else if (!mapping_.register_tile && is_reduction(entry)) {
      auto extent = polyhedral::box(statement(entry).domain)[choice.iterator].extent();
      auto most = options_.unroll > 0 ? options_.unroll : 4;
      while (lanes.unroll < most && extent >= 2 * std::int64_t{lanes.lanes} * lanes.unroll) lanes.unroll *= 2;
    }
    if (lanes.lanes > 1) mapping_.statements.push_back(lanes);
  }

  /// Lanes for copies of what the heaviest statement writes, where no statement runs along an outer member.
  void choose_copy_lanes() {
    for (std::size_t i = 0; i < cluster_.members.size(); ++i) {
      int iterator = heaviest_.outer[i];
      if (mapping_.members[i].points == 1 || iterator < 0) continue;
      if (polyhedral::stride(scop_, statement(heaviest_).write, iterator) != 1) continue;
      lane_member_ = static_cast<int>(i);
      lane_count_ =
          lanes_within(vector_lanes(scop_, statement(heaviest_), target_, iterator), mapping_.members[i].points);
    }
  }

  /// Targets of reductions stay in a buffer while a tile runs, where memory would see every step of the reduction.
  void choose_staged() {
    for (const auto& entry : cluster_.statements) {
      auto lanes = mapping_.statement(entry.id);
      if (entry.id == mapping_.reduction.statement) continue;
      bool private_lanes = lanes.iterator >= 0 && member_of(entry, lanes.iterator) < 0;
      if (!is_reduction(entry) || (private_lanes && !mapping_.register_tile)) continue;
      auto target = polyhedral::range_name(statement(entry).write.relation);
      if (!contains(mapping_.staged, target)) mapping_.staged.push_back(target);
    }
  }

  std::int64_t total_work() const {
    std::int64_t result = 0;
    for (auto work : work_) result = std::min(result + work, most_counted);
    return result;
  }
  std::int64_t trips(std::size_t member) const {
    return ceil_div(cluster_.members[member].extent(), mapping_.members[member].points);
  }

  /// The first member the user named, else the first with four iterations a core, else the one that keeps most cores
  /// busy; -1 without members.
  int parallel_member() const {
    for (std::size_t i = 0; i < cluster_.members.size() && (i == 0 || cluster_.permutable); ++i)
      if (heaviest_.outer[i] >= 0 &&
          contains(options_.parallel_along, statement(heaviest_).iterators[heaviest_.outer[i]]))
        return static_cast<int>(i);
    int best = -1;
    double busy = 0;
    for (std::size_t i = 0; i < cluster_.members.size() && (i == 0 || cluster_.permutable); ++i) {
      if (trips(i) >= 4 * target_.cores) return static_cast<int>(i);
      if (auto share = busy_share(trips(i), target_.cores); share > busy) {
        best = static_cast<int>(i);
        busy = share;
      }
    }
    return best;
  }

  void choose_outermost() {
    if (blocked_) return;
    auto work = total_work();
    if (!options_.parallel || work < parallel_cluster) return;
    int member = parallel_member();
    if (member < 0 || trips(member) < 2) return;
    mapping_.outermost = member;
    mapping_.parallel = true;
    auto& size = mapping_.members[member];
    auto each = std::max<std::int64_t>(work / trips(member), 1);
    if (size.block > 0 || each >= parallel_iteration) return;
    auto group = task_iterations(trips(member), each, 4);
    if (group > 1) size.block = group * size.points;
  }

  const Scop& scop_;
  const ClusterView& cluster_;
  const Target& target_;
  const MappingOptions& options_;
  ClusterStatement heaviest_;
  std::vector<std::int64_t> work_;
  int lane_member_ = -1, lane_count_ = 0;
  bool blocked_ = false;  ///< choose_blocks decided on loops and threads
  ClusterMapping mapping_;
};

}  // namespace

std::int64_t buffer_bytes(const Target& target, const MappingOptions& options) {
  if (!options.promote) return 0;
  return options.promote_bytes > 0 ? options.promote_bytes : std::min<std::int64_t>(target.l2_bytes / 4, 256 << 10);
}

ClusterMapping choose_cluster_mapping(const Scop& scop, const ClusterView& cluster, const Target& target,
                                      const MappingOptions& options) {
  if (cluster.statements.empty()) return {};
  auto machine = target;
  if (options.vector_bytes > 0) machine.widest_vector = static_cast<int>(options.vector_bytes);
  return Chooser(scop, cluster, machine, options).choose();
}

polyhedral::Mapping choose_mapping(const polyhedral::ClusteredScop& clustered, const Target& target,
                                   const MappingOptions& options) {
  polyhedral::Mapping result;
  result.buffer_bytes = buffer_bytes(target, options);
  for (const auto& cluster : clustered.clusters)
    result.clusters.push_back(choose_cluster_mapping(clustered.scop, cluster, target, options));
  return result;
}

}  // namespace tc::strategy
