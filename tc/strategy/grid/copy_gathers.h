#pragma once

#include <cstdint>
#include <string>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/map/grid_mapping.h"

namespace tc::strategy {

/// Iterations of a reduction between two barriers, for which copies are made at once.
inline constexpr std::int64_t block_size = 16;

/// How often a block must read each element that it would copy through index tensors: as often as the options say, else
/// as many times as make up for the barrier.
std::int64_t least_reuse(const polyhedral::MappingOptions& options);

/// Does some statement of \p cluster write \p tensor?
bool writes(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster, const std::string& tensor);
/// Does some statement of \p cluster write what read number \p read of \p statement touches, index tensors included?
bool is_written(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                const polyhedral::Statement& statement, int read);

/// Adds to \p mapping, in which tiles and threads are chosen, shared copies of what a statement of \p cluster reads
/// through index tensors: of those elements that its block reads least_reuse times or more, or that neighbouring
/// threads read far apart though they lie side by side, if they fit.
///
///   O(b, n, d) = T(I(b), d) * P(n, d), tile 1x16x64 of (b, n, d)      a copy of 64 elements of T, each read 16 times
void copy_gathers(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                  const polyhedral::MappingOptions& options, polyhedral::GridClusterMapping& mapping);

}  // namespace tc::strategy
