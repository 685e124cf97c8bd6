#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tc/lang/syntax/tree.h"

namespace tc::graph {

/// \p statement as two, the first of which writes \p fresh: an affine function by \p constants of the elements of one tensor, which
/// the second reads in its place; the value of \p statement reads that tensor nowhere else.
///
///   before  Y(n,k) = relu(A(n,k) * s(k) + t(k))        after  T(n,k) = A(n,k) * s(k) + t(k)   Y(n,k) = relu(T(n,k))
///
/// Nothing where there is no such part, or all of it is one, for reductions, and under conditions, which may keep the tensor from
/// being read at all.
std::optional<std::pair<lang::Assignment, lang::Assignment>> split_affine(const lang::Assignment& statement,
                                                                          const std::set<std::string>& constants,
                                                                          const std::string& fresh);

}  // namespace tc::graph
