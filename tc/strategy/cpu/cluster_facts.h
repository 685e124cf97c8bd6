#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/map/mapping.h"
#include "tc/strategy/cost/fixed_order.h"
#include "tc/strategy/cost/vector_cost.h"

namespace tc::strategy {

/// What the choices for a cluster start from: it, its machine, and its heaviest statement, the first with most
/// instances, which decides. Reads only. A member is one of the cluster's outer band, an iterator a position in a
/// statement's domain.
struct ClusterFacts {
  ClusterFacts(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster, const Target& target,
               const polyhedral::MappingOptions& options);

  const polyhedral::Scop& scop;
  const polyhedral::ClusterView& cluster;
  const Target& target;
  const polyhedral::MappingOptions& options;
  polyhedral::ClusterStatement heaviest;
  std::int64_t work = 0;  ///< instances of all statements, at most `most_counted`

  int member_count() const { return static_cast<int>(cluster.members.size()); }
  const polyhedral::Statement& statement(const polyhedral::ClusterStatement& entry) const {
    return scop.statement(entry.id);
  }
  /// The name of the tensor that \p entry writes.
  std::string target_of(const polyhedral::ClusterStatement& entry) const;

  /// The extent of \p member, within the block that \p mapping gives it.
  std::int64_t extent(int member, const polyhedral::ClusterMapping& mapping) const;
  /// Tiles of \p mapping along \p member.
  std::int64_t trips(int member, const polyhedral::ClusterMapping& mapping) const;

  /// Does \p entry reduce in loops of its own (polyhedral::reduces_alone)?
  bool is_reduction(const polyhedral::ClusterStatement& entry) const;
  /// Does it so right below the members, where tiles of these may surround all its loops?
  bool is_tiled_reduction(const polyhedral::ClusterStatement& entry) const;
  /// Does it so in a loop whose iterations run in order? Points of a register tile may stand below all its loops, nothing else around them.
  bool is_reduction_of_step(const polyhedral::ClusterStatement& entry) const;
  /// Does \p entry write another element for each value of \p iterator?
  bool is_kept(const polyhedral::ClusterStatement& entry, int iterator) const;
  /// Iterators of the outer members, and of loops of its own, along which lanes of \p entry may run.
  std::vector<int> outer_candidates(const polyhedral::ClusterStatement& entry) const;
  std::vector<int> inner_candidates(const polyhedral::ClusterStatement& entry) const;
  /// The order in which \p entry accumulates where the options fix it.
  std::optional<FixedOrder> fixed(const polyhedral::ClusterStatement& entry) const;
  /// Vectors of \p entry along each of \p candidates with more than one iteration; where the options name some of them, of these; where they
  /// fix its order, in this order.
  std::vector<VectorChoice> possible_lanes(const polyhedral::ClusterStatement& entry,
                                           const std::vector<int>& candidates) const;
  /// The cheapest of these, scalars among them.
  VectorChoice best_lanes(const polyhedral::ClusterStatement& entry, const std::vector<int>& candidates) const;
};

/// The outer member whose iterator in \p entry is \p iterator, -1 for none.
int member_of(const polyhedral::ClusterStatement& entry, int iterator);

/// \p lanes halved until fewer than half of them would be idle in \p extent iterations.
int lanes_within(int lanes, std::int64_t extent);

}  // namespace tc::strategy
