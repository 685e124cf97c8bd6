#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "tc/polyhedral/map/mapping.h"
#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// The mapping that a choice gives for a cluster.
using ChooseMapping =
    std::function<polyhedral::ClusterMapping(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster)>;

/// Of the mappings that \p choose gives for the largest symbolic sizes and for sizes \p within their ranges, the one for \p cluster of \p scop
/// whose price is never far from the cheaper one, neither at the largest sizes nor at \p within or the \p least. Copies of operands, for example, take the time
/// that they save only from some number of rows on. Where two long loops are symbolic, whose partial tiles meet in corners that prices do not
/// know, it is the one for the largest sizes.
polyhedral::ClusterMapping choose_for_ranges(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                                             const std::map<std::string, std::int64_t>& within,
                                             const std::map<std::string, std::int64_t>& least, const Target& machine,
                                             std::int64_t buffer_bytes, const OperationsOfBodies& bodies,
                                             const ChooseMapping& choose);

/// A size that stands for a range from \p least to \p most: the largest power of two that is at most sqrt(least * most), or that number if it is
/// small.
///
///   3 from 2 to 4    8 from 5 to 16    32 from 17 to 64
std::int64_t size_within(std::int64_t least, std::int64_t most);

}  // namespace tc::strategy
