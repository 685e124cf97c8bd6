#include "tc/strategy/cpu/choose_collapse.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/base/count_product.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/map_cpu/pack.h"
#include "tc/strategy/cost/vector_cost.h"
#include "tc/strategy/cpu/choose_mapping.h"
#include "tc/strategy/cpu/possible_packs.h"
#include "tc/strategy/cpu/register_tile.h"

namespace tc::strategy {
namespace {

using polyhedral::Access;
using polyhedral::ClusterMapping;
using polyhedral::ClusterStatement;
using polyhedral::ClusterView;
using polyhedral::Collapse;
using polyhedral::Scop;
using polyhedral::Statement;

/// Columns beyond which more of them do not change the tile, in vectors, and how much better a collapsed band has to
/// be.
constexpr std::int64_t enough_vectors = 16;
constexpr double least_gain = 1.1;

/// The share of the score of columns along which the result is scattered that one without scatters may have.
constexpr double least_flat = 0.9;

/// Instances below which copies and longer compilation do not pay.
constexpr std::int64_t least_work = 1 << 18;

/// Multiply-adds in the time in which one element is copied alone, and the fewest elements that are copied together:
/// each vector would take more instructions than it is worth compiling.
constexpr double copy_cost = 32;
constexpr std::int64_t least_together = 4;

/// The columns of one register tile and the members that could join them.
class ColumnChooser {
 public:
  ColumnChooser(const Scop& scop, const ClusterView& cluster, const ClusterMapping& plain, const Target& target)
      : scop_(scop), cluster_(cluster), plain_(plain), target_(target) {}

  /// The members to collapse, outermost first; none where that gains nothing.
  std::vector<int> choose() {
    if (!cluster_.permutable || !plain_.register_tile || plain_.dot.of_matrices() || !find_reduction()) return {};
    if (auto flat = choose_flat(); !flat.empty()) return flat;
    auto group = candidates();
    if (group.size() < 2) return {};
    auto best = score({columns_});
    for (std::size_t count = 2; count <= group.size(); ++count) {
      std::vector<int> members(group.end() - static_cast<long>(count), group.end());
      if (!contains(members, columns_) || (count < group.size() && extent(members) < enough_vectors * lanes_)) continue;
      return score(members) >= least_gain * best ? members : std::vector<int>();
    }
    return {};
  }

 private:
  const Scop& scop_;
  const ClusterView& cluster_;
  const ClusterMapping& plain_;
  const Target& target_;
  const ClusterStatement* entry_ = nullptr;  ///< the reduction
  int columns_ = -1;
  int lanes_ = 1;
  std::int64_t reduced_ = 1;  ///< instances that go into one result

  const Statement& statement() const { return scop_.statement(entry_->id); }
  int iterator(int member) const { return entry_->outer[member]; }
  bool moves(const Access& access, int member) const { return stride(access, member) != 0; }
  std::int64_t stride(const Access& access, int member) const {
    return polyhedral::stride(scop_, access, iterator(member));
  }

  /// Where the result is scattered along the columns: the members along which it and all that moves with it run through
  /// memory in order, if as one they make about as good a tile.
  std::vector<int> choose_flat() {
    auto across = columns_, members = static_cast<int>(cluster_.members.size());
    if (stride(statement().write, across) == 1) return {};
    auto plain = score({across});
    for (columns_ = 0; columns_ < members && stride(statement().write, columns_) != 1;) ++columns_;
    auto group = columns_ < members ? candidates() : std::vector<int>();
    bool in_order = group.size() > 1 && runs_in_order(statement().write, group);
    for (const auto& read : statement().reads)
      in_order = in_order && (!moves(read, columns_) || runs_in_order(read, group));
    if (in_order && score(group) >= least_flat * plain) return group;
    columns_ = across;
    return {};
  }
  bool runs_in_order(const Access& access, const std::vector<int>& members) const {
    return side_by_side(access, members) == INT64_MAX;
  }

  std::int64_t extent(const std::vector<int>& members) const {
    return std::accumulate(members.begin(), members.end(), std::int64_t{1},
                           [&](auto product, int m) { return count_product(product, cluster_.members[m].extent()); });
  }

  /// The reduction of the cluster with lanes along an outer member.
  bool find_reduction() {
    std::int64_t most = least_work;
    for (const auto& entry : cluster_.statements) {
      const auto& candidate = scop_.statement(entry.id);
      auto lanes = plain_.statement(entry.id);
      auto found = std::find(entry.outer.begin(), entry.outer.end(), lanes.iterator);
      if (!candidate.accumulates || entry.inner.empty() || lanes.iterator < 0 || lanes.lanes < 2 ||
          found == entry.outer.end())
        continue;
      std::int64_t inner = 1, work = polyhedral::instance_count(candidate.domain);
      auto box = polyhedral::box(candidate.domain);
      for (const auto& loop : entry.inner)
        inner = count_product(inner, loop.iterator < 0 ? 0 : box[loop.iterator].extent());
      if (inner == 0 || work < most) continue;
      most = work;
      entry_ = &entry;
      columns_ = static_cast<int>(found - entry.outer.begin());
      lanes_ = vector_lanes(scop_, candidate, target_, lanes.iterator);
      reduced_ = inner;
    }
    return entry_ && std::all_of(entry_->outer.begin(), entry_->outer.end(), [](int i) { return i >= 0; });
  }

  /// The members that move the same reads as the columns, each of which can be packed, by their strides in the result.
  std::vector<int> candidates() const {
    for (std::size_t i = 0; i < statement().reads.size(); ++i)
      if (moves(statement().reads[i], columns_) && copy_uses(scop_, cluster_, *entry_, static_cast<int>(i)) == 0)
        return {};
    std::vector<int> result;
    for (int member = 0; member < static_cast<int>(cluster_.members.size()); ++member) {
      bool same = std::all_of(statement().reads.begin(), statement().reads.end(),
                              [&](const Access& read) { return moves(read, member) == moves(read, columns_); });
      if (same && stride(statement().write, member) > 0 && cluster_.members[member].extent() > 1)
        result.push_back(member);
    }
    std::stable_sort(result.begin(), result.end(),
                     [&](int a, int b) { return stride(statement().write, a) > stride(statement().write, b); });
    return result;
  }

  /// Elements of \p access that lie side by side, as far as that matters, along \p members.
  std::int64_t side_by_side(const Access& access, const std::vector<int>& members) const {
    std::int64_t next = 1, together = 1;
    bool contiguous = true;
    for (auto member = members.rbegin(); member != members.rend(); ++member) {
      contiguous = contiguous && stride(access, *member) == next;
      next = count_product(next, cluster_.members[*member].extent());
    }
    if (contiguous) return INT64_MAX;
    if (members.size() == 1) return lanes_;
    while (together < lanes_ && cluster_.members[members.back()].extent() % (2 * together) == 0) together *= 2;
    return together;
  }

  /// What copies of \p access, used \p uses times an element, cost along \p members, in shares of the multiply-adds.
  double copy_share(const Access& access, const std::vector<int>& members, std::int64_t uses) const {
    auto together = side_by_side(access, members);
    if (together == INT64_MAX) return 0;
    if (together < least_together && members.size() > 1) return INFINITY;
    return copy_cost / 4 * static_cast<double>(lanes_) / static_cast<double>(together * uses);
  }

  /// The share of the peak that a tile with the columns \p members may reach.
  double score(const std::vector<int>& members) const {
    std::vector<std::int64_t> trips{ceil_div(extent(members), lanes_)};
    std::vector<int> kept{columns_};
    for (int member = 0; member < static_cast<int>(cluster_.members.size()); ++member) {
      if (contains(members, member)) continue;
      kept.push_back(member);
      trips.push_back(cluster_.members[member].extent());
    }
    std::vector<Operand> operands;
    double copies = copy_share(statement().write, members, reduced_);
    for (std::size_t i = 0; i < statement().reads.size(); ++i) {
      const auto& read = statement().reads[i];
      Operand operand{{}, moves(read, columns_)};
      for (int member : kept) operand.members.push_back(moves(read, member));
      operands.push_back(operand);
      if (operand.vector) copies += copy_share(read, members, copy_uses(scop_, cluster_, *entry_, static_cast<int>(i)));
    }
    auto filled = static_cast<double>(extent(members)) / static_cast<double>(lanes_ * trips.front());
    return filled * choose_register_tile(operands, trips, 0, target_).score / (1 + copies);
  }
};

}  // namespace

std::vector<Collapse> choose_collapse(const polyhedral::ClusteredScop& clustered, const Target& target,
                                      const polyhedral::MappingOptions& options) {
  bool free = options.vectorise && options.promote && options.pack && options.tile.empty() &&
              options.register_tile.empty() && options.vector_along.empty() && options.parallel_along.empty();
  if (!free) return {};
  const auto& clusters = clustered.clusters;
  auto short_bands = std::all_of(clusters.begin(), clusters.end(),
                                 [](const ClusterView& cluster) { return cluster.members.size() < 3; });
  if (short_bands) return {};
  auto plain = choose_mapping(clustered, target, options);
  std::vector<Collapse> result;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    if (clusters[i].statements.empty()) continue;
    Collapse choice{i, ColumnChooser(clustered.scop, clusters[i], plain.clusters[i], target).choose()};
    if (!choice.members.empty() && can_collapse(clustered, choice)) result.push_back(choice);
  }
  return result;
}

}  // namespace tc::strategy
