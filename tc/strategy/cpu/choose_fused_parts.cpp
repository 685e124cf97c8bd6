#include "tc/strategy/cpu/choose_fused_parts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/base/count_product.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/schedule/gather_coincident.h"
#include "tc/strategy/cpu/choose_mapping.h"
#include "tc/strategy/price/price.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterView;
using polyhedral::FusedParts;
using polyhedral::Scop;
using polyhedral::Statement;

/// Parts at most: what they write is read again by one loop.
constexpr std::int64_t most_parts = 64;

/// A size of parts of \p extent iterations, which divides it if one up to twice the least does.
std::int64_t part_size(std::int64_t extent) {
  const auto least = ceil_div(extent, most_parts);
  for (auto parts = most_parts; parts > 0 && extent < 2 * least * parts; --parts)
    if (extent % parts == 0) return extent / parts;
  return least;
}

std::int64_t elements(const polyhedral::Tensor& tensor) {
  std::int64_t result = 1;
  for (auto extent : tensor.extent) result = count_product(result, extent);
  return result;
}

/// A scop, its dependences, which are found when they are asked for, and what its clusters cost.
class Program {
 public:
  Program(Scop scop, std::optional<polyhedral::Dependences> dependences, const Target& target,
          const polyhedral::MappingOptions& options)
      : scop_(std::move(scop)), dependences_(std::move(dependences)), target_(target), options_(options) {}

  const Scop& scop() const { return scop_; }
  const polyhedral::Dependences& dependences() {
    if (!dependences_) dependences_.emplace(polyhedral::compute_dependences(scop_));
    return *dependences_;
  }
  Scop with(const FusedParts& parts) const { return fuse_in_parts(scop_, parts, options_); }

  /// What all clusters of \p scop cost, this one or one that fuse_in_parts makes of it.
  double seconds(const Scop& scop) {
    double result = 0;
    const auto clustered = polyhedral::clustered(scop);
    for (const auto& cluster : clustered.clusters) {
      std::vector<std::string> key;
      for (const auto& entry : cluster.statements)
        key.push_back(str(entry.id, " ", polyhedral::instance_count(clustered.scop.statement(entry.id).domain)));
      auto [found, is_new] = known_.try_emplace(key, 0.0);
      if (is_new) found->second = computed_seconds(clustered.scop, cluster);
      result += found->second;
    }
    return result;
  }

 private:
  double computed_seconds(const Scop& scop, const ClusterView& cluster) const {
    auto mapping = choose_cluster_mapping(scop, cluster, target_, options_);
    return price(PricedCluster(scop, cluster, target_), mapping, buffer_bytes(target_, options_)).seconds;
  }

  Scop scop_;
  std::optional<polyhedral::Dependences> dependences_;
  const Target& target_;
  const polyhedral::MappingOptions& options_;
  std::map<std::vector<std::string>, double>
      known_;  ///< of clusters, by their statements and how many instances these have
};

/// The choice for one member of a cluster.
class MemberChoice {
 public:
  MemberChoice(Program& program, const std::vector<ClusterView>& views, std::size_t host, int member)
      : program_(program),
        views_(views),
        host_(views.at(host)),
        extent_(host_.members.at(static_cast<std::size_t>(member)).extent()),
        chosen_{host, member, part_size(extent_), {}} {}

  /// No reductions where none pays.
  FusedParts choose() {
    if (extent_ < 2 * chosen_.size || !is_one_iterator(program_.scop(), host_, chosen_.member)) return chosen_;
    for (const auto& view : views_)
      for (const auto& entry : view.statements) try_all_iterators(program_.scop().statement(entry.id));
    return chosen_;
  }

 private:
  void try_all_iterators(const Statement& statement) {
    if (!statement.accumulates || !shares_much(statement)) return;
    const auto kept = polyhedral::kept_dimensions(statement);
    const auto box = polyhedral::box(statement.domain);
    for (int i = 0; i < polyhedral::dimensions(statement.domain); ++i) {
      if (contains(kept, i) || box[static_cast<std::size_t>(i)].extent() != extent_) continue;
      auto candidate = chosen_;
      candidate.reductions.push_back({statement.id, i});
      if (!can_fuse_in_parts(program_.scop(), program_.dependences(), candidate)) continue;
      if (chosen_.reductions.empty()) seconds_ = program_.seconds(program_.scop());
      auto seconds = program_.seconds(program_.with(candidate));
      if (seconds >= seconds_) continue;
      seconds_ = seconds;
      chosen_ = candidate;
      return;
    }
  }

  /// Does \p statement read a tensor that the cluster touches too, and that holds more than all parts of its results?
  bool shares_much(const Statement& statement) const {
    auto results = ceil_div(extent_, chosen_.size);
    const auto box = polyhedral::box(statement.domain);
    for (int i : polyhedral::kept_dimensions(statement))
      results = count_product(results, box[static_cast<std::size_t>(i)].extent());
    return std::any_of(statement.reads.begin(), statement.reads.end(), [&](const auto& read) {
      const auto tensor = polyhedral::range_name(read.relation);
      return elements(program_.scop().tensor(tensor)) > results && touches_here(tensor);
    });
  }
  bool touches_here(const std::string& tensor) const {
    return std::any_of(host_.statements.begin(), host_.statements.end(), [&](const auto& entry) {
      const auto all = polyhedral::accesses(program_.scop().statement(entry.id));
      return std::any_of(all.begin(), all.end(),
                         [&](const polyhedral::Access* access) { return polyhedral::touches(*access, tensor); });
    });
  }

  Program& program_;
  const std::vector<ClusterView>& views_;
  const ClusterView& host_;
  std::int64_t extent_;
  FusedParts chosen_;
  double seconds_ = 0;  ///< of the program as it is chosen
};

/// The parts of the first member of cluster number \p host that reductions join; none without such a member.
FusedParts choose_for(Program& program, std::size_t host) {
  const auto views = polyhedral::cluster_views(program.scop());
  for (std::size_t member = 0; member < views[host].members.size(); ++member) {
    auto found = MemberChoice(program, views, host, static_cast<int>(member)).choose();
    if (!found.reductions.empty()) return found;
  }
  return {};
}

}  // namespace

std::vector<FusedParts> choose_fused_parts(const Scop& scop, const polyhedral::Dependences& dependences,
                                           const Target& target, const polyhedral::MappingOptions& options) {
  std::vector<FusedParts> result;
  if (target.grid || options.fusion == polyhedral::FusionStrategy::Min) return result;
  if (options.reduction_parts == 1 || !options.tile.empty() || options.batch_invariant) return result;
  std::optional<Program> program;
  program.emplace(scop, dependences, target, options);
  for (std::size_t host = 0; host < polyhedral::cluster_views(program->scop()).size(); ++host) {
    auto found = choose_for(*program, host);
    if (found.reductions.empty()) continue;
    auto fused = program->with(found);
    program.emplace(std::move(fused), std::nullopt, target, options);
    result.push_back(std::move(found));
  }
  return result;
}

}  // namespace tc::strategy
