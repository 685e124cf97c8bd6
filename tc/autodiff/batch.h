#pragma once

#include <map>
#include <string>
#include <vector>

#include "tc/lang/check/inline.h"

namespace tc::autodiff {

/// A def for a batch of arguments.
struct Batched {
  lang::Def def;
  std::vector<std::string> returns;  ///< those that have the dimension of the batch
};

/// \p function for a batch: every statement that depends on a parameter of \p places has one more iterator.
///
///   def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }                                 A: 0
///
///   def mm_vmap(float32(V, M, K) A, float32(K, N) B) -> (C) { C(v, m, n) +=! A(v, m, k) * B(k, n) }
///
/// \p places says where the dimension of the batch stands in parameters and in returns, from 0, or from -1 backwards: first
/// in returns that it does not name. Throws ArgumentError for a place that a tensor does not have, for no parameter at all, and for a def that
/// accumulates into the caller's buffer.
Batched batch(const lang::InlinedDef& function, const std::map<std::string, int>& places);

}  // namespace tc::autodiff
