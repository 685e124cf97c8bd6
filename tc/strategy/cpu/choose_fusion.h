#pragma once

#include <map>
#include <string>
#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/schedule/fusion_criterion.h"

namespace tc::strategy {

/// Compares clusters of \p scop by price_cluster, each, once, as choose_mapping maps it to \p target, a processor, under
/// \p options. Refers to its arguments.
///
/// Asked where both parts reduce in loops of their own: a cluster has one register tile, blocks and packed copies, those
/// of its heaviest statement. Together they are to cost `kept_of_two_tiles` of what they cost apart, as what the other
/// one reads then lies where no price says how it falls into the sets of a cache. Other clusters are not priced: they fuse as
/// far as their loops allow.
///
///   Q(n,o) +=! X(n,k)*A(o,k)  R(n,o) +=! X(n,k)*B(o,k)      apart
///   s(n) +=! X(n,k)           q(n) +=! X(n,k)*X(n,k)        fused, X is read once
class ChooseFusion : public polyhedral::FusionCriterion {
 public:
  ChooseFusion(const polyhedral::Scop& scop, const Target& target, const polyhedral::MappingOptions& options)
      : scop_(scop), target_(target), options_(options) {}

  bool pays(const polyhedral::ClusterView& fused, const polyhedral::ClusterView& earlier,
            const polyhedral::ClusterView& later) const override;

 private:
  double cycles(const polyhedral::ClusterView& cluster) const;
  double computed_cycles(const polyhedral::ClusterView& cluster) const;

  mutable std::map<std::vector<std::string>, double> known_;  ///< the cycles of clusters, by their statements
  const polyhedral::Scop& scop_;
  const Target& target_;
  const polyhedral::MappingOptions& options_;
};

}  // namespace tc::strategy
