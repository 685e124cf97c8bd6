#pragma once

#include <string>
#include <vector>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/fuse_in_parts.h"

/// Parts of fuse_in_parts.
namespace tc::polyhedral {

/// The ids of the statements of \p cluster.
std::vector<std::string> ids_of(const ClusterView& cluster);

/// Of \p statement, before it is cut, the iterator that \p parts cut: of a reduction, or of a statement of the cluster
/// \p host; -1: none is.
int cut_iterator(const ClusterView& host, const FusedParts& parts, const std::string& statement);

/// Does each pair of \p pairs have the same value in iterator \p i of the source as in \p j of the sink?
bool are_equal(const isl::map& pairs, int i, int j);

/// The schedule of what \p parts fuse in \p scop, whose statements are cut already: those of the cluster \p host, the
/// reductions, and \p starts, which start the parts of these. \p old is the schedule before, of the new instances.
///
///   band [p] { band [c] start } { band [n] { what the cluster does in an iteration } { band [c] reductions } }
///
/// Reductions whose results have the same ranges share the loops over these, also with the last statement of the cluster
/// where it has no others and each iteration makes what theirs read.
isl::schedule fused_parts_tree(const Scop& scop, const ClusterView& host, const FusedParts& parts,
                               const std::vector<std::string>& starts, const isl::schedule& old);

}  // namespace tc::polyhedral
