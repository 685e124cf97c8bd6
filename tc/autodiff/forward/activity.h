#pragma once

#include <set>
#include <string>
#include <vector>

#include "tc/autodiff/forward/forward.h"

namespace tc::autodiff {

/// The float versions that depend on the parameters \p wrt through floats.
std::set<std::string> active_versions(const Forward& forward, const std::vector<std::string>& wrt);

/// Does no version of \p outputs change when the maximum or minimum that statement \p at computes is shifted? Such a
/// result (the maximum of a softmax) stabilises: its gradient is exactly 0.
///
/// Each version is followed as shifted by a multiple, or as scaled by an exponential of it; anything else counts as a
/// change.
bool is_stabiliser(const Forward& forward, std::size_t at, const std::vector<std::string>& outputs);

}  // namespace tc::autodiff
