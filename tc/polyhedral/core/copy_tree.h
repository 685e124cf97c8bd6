#pragma once

#include <functional>

#include "tc/polyhedral/core/isl.h"

namespace tc::polyhedral {

/// Copies the tree below \p from, whose instances are those of \p to, to the leaf \p to, with the options of bands for the AST. Returns
/// the node of the same depth. Sets become sequences, and filters what \p filter makes of them.
isl::schedule_node copy_tree(const isl::schedule_node& from, const isl::schedule_node& to,
                             const std::function<isl::union_set(const isl::union_set&)>& filter);
isl::schedule_node copy_tree(const isl::schedule_node& from, const isl::schedule_node& to);

}  // namespace tc::polyhedral
