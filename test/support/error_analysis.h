#pragma once

#include <map>
#include <string>
#include <vector>

#include "tc/base/tensor.h"
#include "tc/lang/interpret/ranges.h"

namespace tc::test {

/// How far compiled code may be from the interpreter, by name of a tensor of floats: one bound for each element, in
/// row-major order. 0: what is computed is exact in any order. Infinite: nothing is known.
using ErrorBounds = std::map<std::string, std::vector<double>>;

/// Executes \p def as lang::interpret does, and gives the bounds of all its returns, by a running error analysis:
/// every operation adds what it makes of the errors of its operands and the rounding of its result in the type it is
/// computed in, unless the operands are exact and the result is (a product of small integers). With u the unit of that
/// type, half an ulp of 1:
///
///   a op b      |f(a +- da, b) - f(a, b)| + |f(a, b +- db) - f(a, b)| + 2 u |f(a, b)|
///   functions   the same with 16 u, which covers CUDA's, those with zeros inside their domain 16 u absolutely too
///   sums        the terms' errors, and min(n, 4 sqrt(n)) u times the sum of the n terms' magnitudes: n u is what any
///               order stays within, and roundings that are as often up as down stay within a few sqrt(n) u
///   c ? a : b   where errors leave open what c is, both
ErrorBounds analyse_errors(const lang::Def& def, const lang::Ranges& ranges, const lang::SizeMap& sizes,
                           const std::map<std::string, TensorView>& tensors);

}  // namespace tc::test
