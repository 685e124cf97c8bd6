#pragma once

#include <map>
#include <string>
#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/schedule/fusion_criterion.h"

namespace tc::strategy {

/// Compares clusters of \p scop as kernels: each mapped to a grid of \p target by cheapest_grid_cluster() under \p options, once. A
/// fused cluster pays where it costs no more than both by themselves, launches included. Products of matrices stay apart in any case
/// (OneContraction), because a price cannot tell the tiles of two that run element by element. Refers to \p scop.
///
///   Z(i,j,n) = gelu(X(128*i+j,n))   Y(m,n) = Z(m/128,m%128,n)     apart: only n is parallel in both at once
///   Z(m,n) = gelu(X(m,n))           Y(m,n) = Z(m,n) + R(m,n)      fused
class ChooseGridFusion final : public polyhedral::FusionCriterion {
 public:
  ChooseGridFusion(const polyhedral::Scop& scop, Target target, polyhedral::MappingOptions options,
                   OperationsOfBodies bodies);

  bool pays(const polyhedral::ClusterView& fused, const polyhedral::ClusterView& earlier,
            const polyhedral::ClusterView& later) const override;
  /// No: another kernel does not find a temporary in the cache of a multiprocessor.
  bool fits_caches(std::int64_t) const override { return false; }

 private:
  double seconds(const polyhedral::ClusterView& cluster) const;

  const polyhedral::Scop& scop_;
  Target target_;
  polyhedral::MappingOptions options_;
  OperationsOfBodies bodies_;
  mutable std::map<std::vector<std::string>, double> known_;  ///< of clusters, by their statements
};

}  // namespace tc::strategy
