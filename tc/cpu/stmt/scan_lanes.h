#pragma once

#include <Halide.h>

#include <set>
#include <string>

#include "tc/base/target.h"

namespace tc::cpu {

/// Lets running reductions go along lanes: results of a whole vector are joined in a few steps, then with what all vectors before
/// add up to.
///
///   before  for i in 1:N: S[i] = S[i - 1] + X[i]
///   after   for i in 1:4: S[i] = S[i - 1] + X[i]
///           before[0..3] = S[3]
///           for b in 0:N/4 - 1: let v = X[4b + 4 .. 4b + 7]                      a      b      c        d
///                                  let v = v + (0, v0, v1, v2)                    a      a+b    b+c      c+d
///                                  let v = v + (0, 0, v0, v1)                     a      a+b    a+b+c    a+b+c+d
///                                  { S[4b + 4 .. 4b + 7] = before + v    before = before + v3 }
///           for i in the rest: S[i] = S[i - 1] + X[i]
///
/// Of loops over stores to one of \p running, tensors whose values running_reductions() made of sums, products, minima and maxima: these may be
/// reassociated. The loop is serial, one store is all that its body does, to a place one element on or back each time, and the
/// value joins the element of the iteration before and a term of loads and arithmetic, which reads that tensor nowhere.
Halide::Internal::Stmt scan_lanes(const Halide::Internal::Stmt& stmt, const std::set<std::string>& running,
                                  const Target& target);

}  // namespace tc::cpu
