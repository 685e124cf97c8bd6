#pragma once

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/schedule/fusion_criterion.h"

namespace tc::strategy {

/// Keeps sums of products of matrices in clusters of their own on a grid: a kernel has one tile of accumulators and copies of
/// one pair of operands (find_contraction), so that two such sums in one kernel would run element by element. A price cannot
/// tell before there are clusters to map.
///
///   H(m,n) +=! X(m,k) * U(n,k)   G(m,n) +=! X(m,k) * V(n,k)   Y(m,n) = H(m,n) * G(m,n)       two clusters: H; G and Y
class OneContraction final : public polyhedral::FusionCriterion {
 public:
  explicit OneContraction(const polyhedral::Scop& scop) : scop_(scop) {}

  bool pays(const polyhedral::ClusterView& fused, const polyhedral::ClusterView& earlier,
            const polyhedral::ClusterView& later) const override;

 private:
  int contractions(const polyhedral::ClusterView& cluster) const;

  const polyhedral::Scop& scop_;
};

}  // namespace tc::strategy
