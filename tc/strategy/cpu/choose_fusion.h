#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/schedule/fusion_criterion.h"

namespace tc::strategy {

/// Compares clusters of \p scop by price(), each, once, as choose_mapping maps it to \p target, a processor, under
/// \p options. Refers to \p scop.
///
/// Asked where both parts reduce in loops of their own: a cluster has one register tile, blocks and packed copies, those
/// of its heaviest statement. Together they are to cost no more than apart. Parts of one tensor stay apart. Other clusters
/// are not priced: they fuse as far as their loops allow.
///
///   Q(n,o) +=! X(n,k)*A(o,k)  R(n,o) +=! X(n,k)*B(o,k)      apart
///   s(n) +=! X(n,k)           q(n) +=! X(n,k)*X(n,k)        fused, X is read once
class ChooseFusion : public polyhedral::FusionCriterion {
 public:
  ChooseFusion(const polyhedral::Scop& scop, Target target, polyhedral::MappingOptions options)
      : scop_(scop), target_(std::move(target)), options_(std::move(options)) {}

  bool pays(const polyhedral::ClusterView& fused, const polyhedral::ClusterView& earlier,
            const polyhedral::ClusterView& later) const override;
  bool fits_caches(std::int64_t bytes) const override { return bytes <= target_.l2_bytes; }

 private:
  double seconds(const polyhedral::ClusterView& cluster) const;

  mutable std::map<std::vector<std::string>, double> known_;  ///< seconds of clusters, by their statements
  const polyhedral::Scop& scop_;
  Target target_;
  polyhedral::MappingOptions options_;
};

}  // namespace tc::strategy
