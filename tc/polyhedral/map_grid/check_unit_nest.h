#pragma once

#include <cstddef>

#include "tc/base/target.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/nest/check_nest.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_space.h"

namespace tc::polyhedral {

/// Calls \p refuse, which throws, for what forbids the unit of branch number \p number of \p nest, if it has one:
///
///   it is one of the target, for the elements that its statement multiplies and sums
///   rows are on 8 threads along y, columns on 4 along x in pairs, warps along y and z
///   tiles of blocks and warps and blocks of the sum are multiples of the unit's sizes
///   it reads copies of both operands in shared memory
///   one of a group of warps: each warp has one unit of rows, copies are asynchronous in at least 3 slots, sums are kept
void check_unit_nest(const Scop& scop, const NestSpace& space, const Nest& nest, std::size_t number,
                     const GridLimits& limits, const NestRefusal& refuse);

}  // namespace tc::polyhedral
