#pragma once

#include <string>
#include <vector>

#include "tc/autodiff/differentiate.h"

namespace tc::autodiff {

/// The def of a Jacobian-vector product.
struct Tangent {
  lang::Def def;
  std::vector<std::string> tangents;  ///< parameters t_X, for each of `wrt`, after the def's own
  std::vector<std::string> wrt, of;
};

/// The tangents of the returns `options.of` of \p function for tangents of the parameters `options.wrt`; of all floats
/// where they are empty. A gradient is linear in the d_O that it takes, and its gradient with respect to them is J·t.
///
///   def mm(double(M,K) A, double(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }
///
///   def mm_jvp(float64(M, K) A, float64(K, N) B, float64(M, K) t_A, float64(K, N) t_B) -> (t_C) {
///     t_C(m, n) +=! t_B(k, n) * A(m, k)
///     t_C(m, n) += t_A(m, k) * B(k, n)
///   }
///
/// Throws as differentiate(); \p text is that of \p function.
Tangent tangent(const lang::InlinedDef& function, const std::string& text, const Options& options = {});

}  // namespace tc::autodiff
