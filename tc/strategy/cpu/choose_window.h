#pragma once

#include <optional>
#include <vector>

#include "tc/strategy/cpu/cluster_facts.h"
#include "tc/strategy/cpu/register_tile.h"

namespace tc::strategy {

/// A window that a read of the heaviest statement slides along the rows of a register tile.
struct ReadWindow {
  int read = 0;  ///< position in Statement::reads
  polyhedral::WindowMapping mapping;
};

/// A short loop of the reduction that moves what the rows of \p tile read as the rows do, where each accumulator has a
/// vector of its own to read; nothing where there is none.
///
///   O(h) +=! I(h + k) K(k), k < 3      width 3, step 1
std::optional<ReadWindow> choose_window(const ClusterFacts& facts, const RegisterTile& tile,
                                        const std::vector<Operand>& operands);

}  // namespace tc::strategy
