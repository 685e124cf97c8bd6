#pragma once

#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/split_reduction.h"

namespace tc::strategy {

/// The reductions of \p scop that would leave most of \p target without work, and the parts to cut them into
/// (split_reduction).
///
/// A reduction has a thread for each element of its result; where it runs along rows, one for each of a block; where it
/// adds up products, one for each 16 elements. If all of these do not fill the multiprocessors of a grid and have long to
/// run, it gets parts until they do, each still long enough to pay. On a processor, a long one with few results gets a
/// fixed number of parts for the threads. Parts divide the iterator that is outermost in memory, evenly if a number
/// nearby does.
///
///   s +=! A(i)                    A of 2^24, 132 multiprocessors       512 parts of 32768
///   C(m,n) +=! A(m,k) * B(k,n)    64x64 of 65536, 132 multiprocessors  256 parts of 256
///
/// With options.reduction_parts, so many parts of each reduction (1: none).
std::vector<polyhedral::ReductionParts> choose_reduction_parts(const polyhedral::Scop& scop, const Target& target,
                                                               const polyhedral::MappingOptions& options);

}  // namespace tc::strategy
