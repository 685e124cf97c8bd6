#pragma once

#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_space.h"

namespace tc::strategy {

/// Nests of a cluster whose statements share a loop that runs in order, and add up products in it: a block has a tile of rows, values
/// of one member, for all iterations. Threads along y and z share the rows of all statements alike, and threads along x their
/// columns, the last iterator of each; so what a thread computes of a row stays in its registers from one statement to the next, and
/// from one iteration to the next. Operands are copied in blocks of what is summed. No nest where the cluster is of another kind.
///
///   for b { S(n,w) +=! Q(n,k) K(b,w,k)   m(n) = max(m(n), S(n,w))   O(n,d) += exp(S(n,w) - m(n)) V(b,w,d) }
///
///   n/64 on grid.x   S: b  k/16 with copies  k%16  n%64/16 on thread.z  n%16/4 on thread.y  w/32  w%32/4 on thread.x  n%4  w%4
///                    O: b  w/16 with copies  w%16  n%64/16 on thread.z  n%16/4 on thread.y  d/32  d%32/4 on thread.x  n%4  d%4
///
/// Units for matrices compute products of two operands in memory if they can; then all statements have the rows and columns that a unit
/// gives to threads.
///
/// Which of them a program allows check_kernel_nest() says, and which is fast grid_price().
std::vector<polyhedral::Nest> ordered_loop_tiles(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                                                 const polyhedral::NestSpace& space, const GridLimits& limits);

}  // namespace tc::strategy
