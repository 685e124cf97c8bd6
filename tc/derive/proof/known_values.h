#pragma once

#include <map>
#include <string>
#include <vector>

#include "tc/derive/form/program.h"

namespace tc::derive {

/// Elements of a tensor that hold one number, whatever the inputs are.
struct KnownElements {
  isl::set where;  ///< { [index] }
  double value;
};
using KnownValues = std::map<std::string, std::vector<KnownElements>>;

/// Elements of \p program that are known by numbers in its assignments and by their fills, for exact numbers: exp(-inf - m) is 0, and
/// so is a product with it.
///
///   s(n,j) = j <= n ? a(n,j) : -inf    e(n,j) = exp(s(n,j) - m(n))        where j > n, s is -inf and e is 0
KnownValues known_values(const Program& program);

/// The instances of \p part that have no effect on a reduction by \p op, because their value is known to be neutral(\p op).
isl::set without_effect(const Case& part, ReductionOp op, const KnownValues& known);

}  // namespace tc::derive
