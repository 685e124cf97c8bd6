#pragma once

#include <random>
#include <vector>

#include "tc/strategy/construct/mapping_state.h"

namespace tc::strategy {

/// The states of \p space that one move away from \p state is possible, each once. A move changes one field along its
/// lattice, so that each has one that takes it back:
///
///   tile, inverse tile    points of a member the next or the one before in 1 2 3 4 6 8 12 16 24 ... extent and, as far as
///                         there are registers, what parts the extent evenly; one; or as many as a vector has lanes, which
///                         makes squares
///   exchange              points of one member the next, of another the one before
///   block, inverse block  the iterations of a block twice or half as many, first about as many as all
///   lanes                 along another iterator; the tile starts anew
///   unroll, roll          points in registers or in loops; vectors in flight of a reduction twice or half as many
///   reduction             its blocks twice or half as long
///   copy                  a read is copied at another place, or not at all
///   threads, order        another outermost loop, on threads or not; another member above the copies
std::vector<MappingState> moves(const MappingSpace& space, const MappingState& state);

/// A state of \p space, each of its fields by itself, or after a few moves from \p near if that is given.
MappingState random_state(const MappingSpace& space, std::mt19937_64& random);
MappingState random_walk(const MappingSpace& space, MappingState near, int steps, std::mt19937_64& random);

}  // namespace tc::strategy
