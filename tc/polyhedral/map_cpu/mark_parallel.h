#pragma once

#include <vector>

#include "tc/polyhedral/core/isl_fwd.h"

namespace tc::polyhedral {

/// Inserts the mark `parallel` above the band at \p path, whose first member must be coincident; the other members
/// follow in a band of their own.
///
///   before  band [i, j]        after  parallel  band [i]  band [j]
isl::schedule mark_parallel(const isl::schedule& schedule, const std::vector<int>& path);

}  // namespace tc::polyhedral
