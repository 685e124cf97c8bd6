#pragma once

#include "tc/strategy/cpu/cluster_facts.h"

namespace tc::strategy {

/// The tensors of \p mapping, whose lanes are chosen, that stay in a buffer while a tile runs: targets of reductions of
/// which memory would see every step.
///
///   C(m, n) +=! A(m, k) B(k, n)      C, unless its lanes run along k and are combined once
std::vector<std::string> choose_staged(const ClusterFacts& facts, const polyhedral::ClusterMapping& mapping);

}  // namespace tc::strategy
