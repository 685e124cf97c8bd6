#include "tc/strategy/cpu/choose_strips.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "tc/base/ceil_div.h"
#include "tc/base/count_product.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/strategy/cpu/choose_mapping.h"
#include "tc/strategy/price/price.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusteredScop;
using polyhedral::ClusterView;
using polyhedral::Strips;
using polyhedral::Tensor;

/// Iterations of a strip at least, if there are so many: each strip copies again the factors that all strips have in common, and uses each
/// copied element so many times. Prices do not tell how far such copies move (one core, 8x4096x64: 32 rows take 1.1 times
/// as long as 128, and are cheaper).
constexpr std::int64_t least_strip = 128;

/// Strips of a size that does not divide the range have a multiple of so many iterations, which register tiles divide.
constexpr std::int64_t even_strip = 8;

double bytes_of(const Tensor& tensor) {
  std::int64_t result = byte_size(tensor.type);
  for (auto extent : tensor.extent) result = count_product(result, extent);
  return static_cast<double>(result);
}

bool is_temporary(const Tensor& tensor) {
  return tensor.storage == Tensor::Storage::Workspace && !tensor.live_in && !tensor.live_out;
}

/// A size of strips of \p extent iterations, at most \p wish: one that divides it where there is one of more than half of that, else one
/// that leaves about as many to the last strip.
std::int64_t strip_size(std::int64_t extent, std::int64_t wish) {
  if (wish >= extent) return extent;
  for (auto size = wish; 2 * size > wish; --size)
    if (extent % size == 0) return size;
  return std::min(wish, round_up(ceil_div(extent, ceil_div(extent, wish)), even_strip));
}

/// Neighbouring clusters and the loops that they share.
class Group {
 public:
  Group(const ClusteredScop& scop, const polyhedral::Dependences& dependences, std::size_t first)
      : scop_(scop), dependences_(dependences), first_(first) {
    for (std::size_t m = 0; m < cluster(0).members.size(); ++m) shared_.push_back({static_cast<int>(m)});
  }

  const ClusterView& cluster(std::size_t number) const { return scop_.clusters.at(first_ + number); }
  std::size_t first() const { return first_; }
  std::size_t size() const { return size_; }
  bool shares() const { return !shared_.empty(); }

  /// Takes in the next cluster, with the loops that it shares with all others.
  void extend() {
    std::vector<std::vector<int>> kept;
    for (auto members : shared_) {
      const auto count = static_cast<int>(cluster(size_).members.size());
      for (int m = 0; m < count; ++m) {
        if (std::any_of(kept.begin(), kept.end(), [m](const auto& other) { return other.back() == m; })) continue;
        members.push_back(m);
        if (polyhedral::can_fuse_in_strips(scop_, dependences_, strips_of({members}))) {
          kept.push_back(members);
          break;
        }
        members.pop_back();
      }
    }
    shared_ = std::move(kept);
    ++size_;
  }

  /// Strips of one iteration along the last shared loop.
  Strips strips() const { return strips_of(shared_); }
  std::int64_t extent(std::size_t loop) const {
    return cluster(0).members.at(static_cast<std::size_t>(shared_.at(loop).front())).extent();
  }
  std::size_t loops() const { return shared_.size(); }

  /// Bytes of the temporaries that only these clusters touch.
  double temporary_bytes() const {
    double result = 0;
    for (const auto& tensor : scop_.scop.tensors)
      if (is_own(tensor)) result += bytes_of(tensor);
    return result;
  }

 private:
  Strips strips_of(const std::vector<std::vector<int>>& shared) const {
    Strips result{.first = first_, .loops = {}, .cut = static_cast<int>(shared.size()) - 1, .size = 1};
    for (std::size_t c = 0; c < shared.front().size(); ++c) {
      result.loops.emplace_back();
      for (const auto& members : shared) result.loops.back().push_back(members[c]);
    }
    return result;
  }

  /// Is \p tensor a temporary of several of these clusters, and of no other?
  bool is_own(const Tensor& tensor) const {
    if (!is_temporary(tensor)) return false;
    std::set<std::size_t> clusters;
    for (std::size_t c = 0; c < scop_.clusters.size(); ++c)
      for (const auto& entry : scop_.clusters[c].statements)
        for (const auto* access : polyhedral::accesses(scop_.scop.statement(entry.id)))
          if (polyhedral::touches(*access, tensor.name)) clusters.insert(c);
    return clusters.size() > 1 && *clusters.begin() >= first_ && *clusters.rbegin() < first_ + size_;
  }

  const ClusteredScop& scop_;
  const polyhedral::Dependences& dependences_;
  std::size_t first_, size_ = 1;
  std::vector<std::vector<int>> shared_;  ///< of each shared loop, the member of each cluster
};

class StripChoice {
 public:
  StripChoice(const ClusteredScop& scop, const Target& target, const polyhedral::MappingOptions& options,
              const OperationsOfBodies& bodies)
      : scop_(scop), target_(target), options_(options), bodies_(bodies) {}

  /// The strips of \p group that pay.
  std::optional<Strips> choose(const Group& group) {
    const auto cache = static_cast<double>(target_.l2_bytes), all = group.temporary_bytes();
    if (all <= large_temporary(target_)) return std::nullopt;
    double iterations = 1;
    for (std::size_t loop = 0; loop < group.loops(); ++loop) iterations *= static_cast<double>(group.extent(loop));
    const auto extent = group.extent(group.loops() - 1);
    auto strips = group.strips();
    strips.size = strip_size(extent, std::max(static_cast<std::int64_t>(cache / (all / iterations)), least_strip));
    strips = in_best_order(group, strips);
    return seconds_of(group, strips) < tie_of_strips * seconds_apart(group) ? std::optional(strips) : std::nullopt;
  }

 private:
  double seconds_of(const polyhedral::Scop& scop, const ClusterView& cluster) const {
    auto options = options_;
    if (cluster.in_strips()) options.parallel = false;
    const auto mapping = choose_cluster_mapping(scop, cluster, target_, options, bodies_);
    const PricedCluster priced(scop, cluster, target_, bodies_);
    return price(priced, mapping, buffer_bytes(target_, options)).seconds;
  }

  double seconds_apart(const Group& group) {
    double result = 0;
    for (std::size_t c = 0; c < group.size(); ++c) {
      const auto [known, is_new] = apart_.try_emplace(group.first() + c, 0.0);
      if (is_new) known->second = seconds_of(scop_.scop, group.cluster(c));
      result += known->second;
    }
    return result;
  }

  double seconds_of(const Group& group, const Strips& strips) const {
    const auto fused = polyhedral::clustered(polyhedral::fuse_in_strips(scop_, {strips}));
    double result = 0;
    for (std::size_t c = 0; c < group.size(); ++c) result += seconds_of(fused.scop, fused.clusters[strips.first + c]);
    return result;
  }

  /// Cores that work on average in \p trips iterations of a loop on threads.
  double busy(std::int64_t trips) const {
    return static_cast<double>(trips) / static_cast<double>(ceil_div(trips, std::int64_t{target_.cores}));
  }
  /// Iterations of the loop over strips where it may stand outermost, on threads: where all strips are whole.
  static std::int64_t outer_strips(const Group& group, const Strips& strips) {
    const auto extent = group.extent(group.loops() - 1);
    return group.loops() == 1 || extent % strips.size == 0 ? ceil_div(extent, strips.size) : 1;
  }

  /// \p strips with the loop outermost that employs more cores: the first, if both do alike.
  Strips in_best_order(const Group& group, const Strips& strips) const {
    auto result = strips;
    if (strips.cut == 0 || busy(outer_strips(group, strips)) <= busy(group.extent(0))) return result;
    result.cut = 0;
    for (auto& loops : result.loops) std::rotate(loops.begin(), loops.end() - 1, loops.end());
    return result;
  }

  const ClusteredScop& scop_;
  const Target& target_;
  const polyhedral::MappingOptions& options_;
  const OperationsOfBodies& bodies_;
  std::map<std::size_t, double> apart_;  ///< seconds of clusters outside of strips, by their numbers
};

/// All groups of at least two clusters that begin with number \p first, the shortest first.
std::vector<Group> groups_from(const ClusteredScop& scop, const polyhedral::Dependences& dependences,
                               std::size_t first) {
  std::vector<Group> result;
  Group group(scop, dependences, first);
  while (group.shares() && first + group.size() < scop.clusters.size()) {
    group.extend();
    if (group.shares()) result.push_back(group);
  }
  return result;
}

/// Do \p options and \p target leave room for strips, and are there temporaries that need them?
bool may_have_strips(const polyhedral::Scop& scop, const Target& target, const polyhedral::MappingOptions& options) {
  const bool named = !options.tile.empty() || !options.register_tile.empty() || !options.parallel_along.empty();
  if (named || options.fusion == polyhedral::FusionStrategy::Min || !options.parallel) return false;
  double bytes = 0;
  for (const auto& tensor : scop.tensors)
    if (is_temporary(tensor)) bytes += bytes_of(tensor);
  return bytes > large_temporary(target);
}

}  // namespace

double large_temporary(const Target& target) {
  return target.grid ? std::numeric_limits<double>::infinity() : static_cast<double>(target.l2_bytes) / 2;
}

std::vector<Strips> choose_strips(const polyhedral::Scop& scheduled, const polyhedral::Dependences& dependences,
                                  const Target& target, const polyhedral::MappingOptions& options,
                                  const OperationsOfBodies& bodies) {
  std::vector<Strips> result;
  if (!may_have_strips(scheduled, target, options)) return result;
  const auto scop = polyhedral::clustered(scheduled);
  StripChoice choice(scop, target, options, bodies);
  for (std::size_t first = 0; first + 1 < scop.clusters.size(); ++first) {
    const auto groups = groups_from(scop, dependences, first);
    std::optional<Strips> found;
    for (auto group = groups.rbegin(); group != groups.rend() && !found; ++group) found = choice.choose(*group);
    if (!found) continue;
    result.push_back(*found);
    first += found->loops.size() - 1;
  }
  return result;
}

}  // namespace tc::strategy
