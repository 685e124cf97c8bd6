#pragma once

#include <vector>

#include "tc/autodiff/access/invert.h"
#include "tc/autodiff/forward/forward.h"

namespace tc::autodiff {

/// Are both in the same outermost loop?
bool in_one_loop(const ForwardStatement& a, const ForwardStatement& b);

/// The subscripts of an element of \p version, read by \p statement, that are indices of loops around both, plus constants. Empty if no
/// loop is around both.
///
///   for t { R(t,h) +=! Y(t-1,k)   Y(t,h) = ... }      gives     dimension 0, t, distance -1
std::vector<FixedSubscript> loop_subscripts(const ForwardStatement& statement, const Version& version,
                                            const std::vector<ExprPtr>& subscripts);

}  // namespace tc::autodiff
