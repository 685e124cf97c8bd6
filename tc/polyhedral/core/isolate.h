#pragma once

#include <string>
#include <vector>

#include "tc/polyhedral/core/isl_fwd.h"

namespace tc::polyhedral {

/// Asks for code of its own for the full tiles of the band \p node, those for which \p conditions (of isl, on its
/// members `t<i>`, the members `o<i>` of the bands around it and symbolic sizes) hold; without conditions nothing changes.
isl::schedule_node isolate(const isl::schedule_node& node, const std::vector<std::string>& conditions);

/// The same where the members of the bands down to \p node are in \p wanted, { [o0, ..., t0, ...] }, and in the set that \p node has asked for before.
isl::schedule_node isolate(const isl::schedule_node& node, const isl::set& wanted);

}  // namespace tc::polyhedral
