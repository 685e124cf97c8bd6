#include "tc/strategy/choose_mapping.h"

#include <algorithm>

#include "tc/polyhedral/cluster_view.h"
#include "tc/polyhedral/gather_coincident.h"
#include "tc/strategy/vector_cost.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterView;
using polyhedral::ClusterMapping;
using polyhedral::ClusterStatement;
using polyhedral::MappingOptions;
using polyhedral::MemberMapping;
using polyhedral::Scop;
using polyhedral::StatementMapping;

/// Element operations below which starting threads costs more than it saves, for a cluster and for one iteration.
constexpr std::int64_t parallel_cluster = 64 << 10;
constexpr std::int64_t parallel_iteration = 16 << 10;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t instances(const Scop& scop, const std::string& id) {
  std::int64_t result = 1;
  for (const auto& interval : polyhedral::box(scop.statement(id).domain)) result *= std::max<std::int64_t>(interval.extent(), 0);
  return result;
}

class Chooser {
 public:
  Chooser(const Scop& scop, const ClusterView& cluster, const Target& target, const MappingOptions& options)
      : scop_(scop), cluster_(cluster), target_(target), options_(options), heaviest_(cluster.statements.front()) {
    for (const auto& statement : cluster.statements) {
      work_.push_back(instances(scop, statement.id));
      if (work_.back() > instances(scop, heaviest_.id)) heaviest_ = statement;
    }
  }

  ClusterMapping choose() {
    mapping_.members.resize(cluster_.members.size());
    for (std::size_t i = 0; i < cluster_.members.size() && i < options_.tile.size(); ++i)
      mapping_.members[i].block = options_.tile[i];
    if (options_.vectorise) choose_vectors();
    if (options_.parallel) choose_parallel();
    return mapping_;
  }

 private:
  /// The outer member whose iterator in \p statement is \p iterator, -1 for none.
  static int member_of(const ClusterStatement& statement, int iterator) {
    for (std::size_t i = 0; i < statement.outer.size(); ++i)
      if (iterator >= 0 && statement.outer[i] == iterator) return static_cast<int>(i);
    return -1;
  }

  std::vector<int> outer_candidates(const ClusterStatement& statement) const {
    std::vector<int> result;
    for (int iterator : statement.outer)
      if (iterator >= 0) result.push_back(iterator);
    return result;
  }
  static std::vector<int> inner_candidates(const ClusterStatement& statement) {
    std::vector<int> result;
    for (const auto& loop : statement.inner)
      if (loop.iterator >= 0 && loop.coincident) result.push_back(loop.iterator);
    return result;
  }

  /// Lanes for each statement: along the outer member the heaviest one wants, else along inner loops of their own.
  void choose_vectors() {
    auto candidates = outer_candidates(heaviest_);
    auto inner = inner_candidates(heaviest_);
    candidates.insert(candidates.end(), inner.begin(), inner.end());
    auto best = best_vector(scop_, scop_.statement(heaviest_.id), candidates, target_);
    int member = member_of(heaviest_, best.iterator);
    for (const auto& statement : cluster_.statements) {
      auto own = inner_candidates(statement);
      if (member >= 0 && statement.outer[member] >= 0) own.push_back(statement.outer[member]);
      auto choice = best_vector(scop_, scop_.statement(statement.id), own, target_);
      if (choice.iterator < 0) continue;
      mapping_.statements.push_back({statement.id, choice.iterator, choice.lanes});
      if (member >= 0 && choice.iterator == statement.outer[member]) {
        auto& points = mapping_.members[member].points;
        points = std::max<std::int64_t>(points, choice.lanes);
      }
    }
  }

  std::int64_t total_work() const {
    std::int64_t result = 0;
    for (auto work : work_) result += work;
    return result;
  }
  std::int64_t trips(std::size_t member) const {
    return ceil_div(cluster_.members[member].extent(), mapping_.members[member].points);
  }

  /// The first member with enough iterations for all cores, else the one with most; -1 without members.
  int parallel_member() const {
    int best = -1;
    for (std::size_t i = 0; i < cluster_.members.size() && (i == 0 || cluster_.permutable); ++i) {
      if (best < 0 || trips(i) > trips(best)) best = static_cast<int>(i);
      if (trips(i) >= 4 * target_.cores) return static_cast<int>(i);
    }
    return best;
  }

  void choose_parallel() {
    int member = parallel_member();
    auto work = total_work();
    if (member < 0 || trips(member) < 2 || work < parallel_cluster) return;
    mapping_.parallel = member;
    auto& size = mapping_.members[member];
    auto each = std::max<std::int64_t>(work / trips(member), 1);
    if (size.block > 0 || each >= parallel_iteration) return;
    auto group = std::min(ceil_div(parallel_iteration, each), ceil_div(trips(member), 2));
    if (group > 1) size.block = group * size.points;
  }

  const Scop& scop_;
  const ClusterView& cluster_;
  const Target& target_;
  const MappingOptions& options_;
  ClusterStatement heaviest_;
  std::vector<std::int64_t> work_;
  ClusterMapping mapping_;
};

}  // namespace

polyhedral::Mapping choose_mapping(const Scop& scop, const Target& target, const MappingOptions& options) {
  auto gathered = scop;
  gathered.schedule = polyhedral::gather_coincident(scop);
  polyhedral::Mapping result;
  for (const auto& cluster : polyhedral::cluster_views(gathered))
    result.clusters.push_back(cluster.statements.empty() ? ClusterMapping{}
                                                         : Chooser(gathered, cluster, target, options).choose());
  return result;
}

}  // namespace tc::strategy
