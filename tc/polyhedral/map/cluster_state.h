#pragma once

#include <string>
#include <vector>

#include "tc/polyhedral/map/mapping.h"

namespace tc::polyhedral {

/// A cluster while passes carry out its nest: how statements run, which no pass changes, and the results of a pass that later
/// passes need.
struct ClusterState {
  bool has_band = false;                     ///< the cluster has an outer band
  std::vector<StatementMapping> statements;  ///< how statements of the program run; one that is missing is scalar
  ReductionBlock reduction;
  DotMapping dot;
  StatementMapping copies;  ///< of the copies that passes add; `iterator` is a member of the outer band

  std::vector<StatementMapping> added = {};  ///< how the statements run that passes added
  /// What stays in buffers while a tile runs: the staged tensors, then the temporaries that took their place
  /// (stage_tensor), and the sums of reduction blocks (block_reduction).
  std::vector<std::string> temporaries = {};
  /// Statements that start and join a block of the reduction (block_reduction); their last iterator counts the blocks.
  std::vector<std::string> counting_blocks = {};

  /// How statement \p id runs, scalar by default.
  StatementMapping statement(const std::string& id) const;
};

}  // namespace tc::polyhedral
