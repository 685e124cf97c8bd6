#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_space.h"

namespace tc::polyhedral {

/// Does loop number \p number of \p branch, of a processor, stand directly above its statement, below all loops of the
/// schedule? So do loops over members of the outer band, and all loops over an iterator of the statement, except for the
/// first one if that is serial.
///
///   S1: k/32   m%8 unrolled   n%16 lanes   k%32 unit      all but k/32
bool is_point(const NestBranch& branch, std::size_t number);

/// The loops of \p branch that are points, outermost first.
std::vector<NestLoop> points_of(const NestBranch& branch);

/// How many iterations of \p index, an iterator of the statement of \p branch with \p extent values, are points: 32 of k above, 1 of
/// an iterator that has no points.
std::int64_t points_along(const NestBranch& branch, const NestIndex& index, std::int64_t extent);

/// How many vectors of the loop \p lanes of \p branch are at once along an iterator of its statement: the iterations of the
/// unrolled loop over them; 1 along a member of the outer band.
int vectors_in_flight(const NestSpace& space, const NestBranch& branch, const NestLoop& lanes);

/// Does a loop of \p branch run on \p place?
bool has_place(const NestBranch& branch, NestPlace place);

/// Are points of \p branch unrolled?
bool is_unrolled(const NestBranch& branch);

/// Do cores run a loop of the trunk of \p nest?
bool is_on_cores(const Nest& nest);

}  // namespace tc::polyhedral
