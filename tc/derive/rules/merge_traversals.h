#pragma once

#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

/// Traversal merging: the sum that defines \p tensor is written out in the sums of products that read it.
///
///   before  T(r, x) +=! f(x, r, c)   O(x) +=! T(r, x) * g(r)        after  O(x) +=! f(x, r, c) * g(r)
///
/// Throws Refusal where it is read in anything else, or reduced by another operator.
Step merge_traversals(const Program& program, const std::string& tensor);

/// Those of sums that one scope reads.
std::vector<Step> traversal_merges(const Program& program);

}  // namespace tc::derive
