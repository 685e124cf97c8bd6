#pragma once

#include <string>
#include <vector>

#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

/// The temporaries of \p program with more elements than any output has.
std::vector<std::string> wide_temporaries(const Program& program);

/// \p program in which each of \p groups of sums, and all other tensors together, read wide temporaries of their own: one that several need is
/// computed once for each. No step where none is shared.
///
///   S(n,j) +=! ...   l(n) +=! S(n,j)   O(j) +=! S(n,j)        S(n,j) +=! ...   l(n) +=! S(n,j)   S_2(n,j) +=! ...   O(j) +=! S_2(n,j)
std::vector<Step> recomputed(const Program& program, const std::vector<std::vector<std::string>>& groups);

}  // namespace tc::derive
