#pragma once

#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

/// Summation splitting: the sum over \p inner, dimensions of the scope of \p tensor, becomes a tensor of its own.
///
///   before  O(x) +=! f(x, r, c)        after  T(r, x) +=! f(x, r, c)   O(x) +=! T(r, x)          inner = {c}
///
/// Throws Refusal where \p inner is not some of the summed iterators, and not all.
Step split_summation(const Program& program, const std::string& tensor, const std::vector<int>& inner);

/// The splits of sums of products of two factors or more: what windows sum over is apart from what they do not.
std::vector<Step> summation_splits(const Program& program);

}  // namespace tc::derive
