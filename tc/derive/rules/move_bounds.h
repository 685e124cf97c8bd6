#pragma once

#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

/// Boundary relaxing: the scope of \p tensor computes all elements of its box, wherever its reads are inside of their
/// tensors, and those that were there are taken.
///
///   before  X(r, t) = r <= t && t < r + 7 ? f(r, t) : 0        after  T(r, t) = f(r, t)   X(r, t) = r <= t && t < r + 7 ? T(r, t) : 0
///
/// Throws Refusal where it does so already.
Step relax_bounds(const Program& program, const std::string& tensor);

/// Boundary tightening: the box of \p tensor becomes the least that holds its elements that are no fill.
///
///   before  X(t) = t >= 1 ? f(t) : 0, t in 0:9        after  T(t) = f(t), t in 1:9   X(t) = t >= 1 ? T(t) : 0
///
/// Throws Refusal where it is that.
Step tighten_bounds(const Program& program, const std::string& tensor);

/// Of all scopes that something reads.
std::vector<Step> relaxed_bounds(const Program& program);
std::vector<Step> tightened_bounds(const Program& program);

}  // namespace tc::derive
