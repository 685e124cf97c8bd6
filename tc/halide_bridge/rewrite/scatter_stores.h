#pragma once

#include "tc/halide_bridge/lower/program.h"

namespace tc::halide_bridge {

/// \p program with stores that are written as the choice of a winner for each element (tc/lang/check/scattered_store.h) in the order of
/// their instances, so that they take time in proportion to the elements that are stored, and without statements that copy a tensor to
/// itself.
///
///   before  S1[q]:    W(q) = lowest
///           S2[q,i]:  W(q) max= if_then_else(p(i) == q, i, lowest)
///           S3[q]:    flag ||= W(q) != lowest && W(q) >= N
///           S4[q,d]:  Y(q,d) = if_then_else(W(q) != lowest, X(W(q),d), Y(q,d))
///   after   S4[i,d]:  Y(p(i),d) = X(i,d)              instances that write one element run in the order of i
///
/// Further winners are those of the first ones, as in `max= p(i,k) == q && W(p(i,k)) == i ? k : lowest`; the statement then has i and k.
/// Nothing else may read the winners but checks that hold for all instances. The subscript must stay in the tensor for all of
/// them, by the ranges of the iterators or by a check of an earlier launch. Launches that have no flags to test left are joined.
Program scatter_stores(const Program& program);

}  // namespace tc::halide_bridge
