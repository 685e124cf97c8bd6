#pragma once

#include "tc/polyhedral/core/cluster_view.h"

namespace tc::polyhedral {

/// Tells the scheduler which clusters pay, on a machine that this floor does not know.
class FusionCriterion {
 public:
  virtual ~FusionCriterion() = default;
  /// Whether \p fused is expected to run no slower than \p earlier and \p later, whose statements it has, one after the
  /// other. No schedule has any of them yet: their paths are empty.
  virtual bool pays(const ClusterView& fused, const ClusterView& earlier, const ClusterView& later) const = 0;
  /// Do a temporary's \p bytes stay in the caches from the loop that writes them to the one that reads them?
  virtual bool fits_caches(std::int64_t bytes) const {
    (void)bytes;
    return true;
  }
};

}  // namespace tc::polyhedral
