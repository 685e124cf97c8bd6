#pragma once

#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/dependences.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/map/fuse_in_strips.h"
#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// Strips, and parts of a graph joined along a large tensor, win where they cost at most so many times as much by price(), because prices
/// of two mappings are no more exact, and the tensor between then needs no memory.
inline constexpr double tie_of_strips = 1.05;

/// Bytes of a temporary from which on strips are looked for: half of the second cache of a core, as the other half is for its inputs; for
/// a grid infinitely many.
double large_temporary(const Target& target);

/// The neighbouring clusters of \p scop, scheduled (clustered), whose dependences are \p dependences, that are to run together in strips (fuse_in_strips.h), in
/// order: those where all of them, each mapped as choose_mapping would, cost no more by price() inside of strips than one after the other.
/// None for a grid, for options that name sizes of tiles or fusion, and without threads. \p bodies are the operations of statements.
///
/// The temporaries of a strip fill the second cache of a core, but a strip has at least 128 iterations. Only clusters are tried whose
/// temporaries this cache could not hold anyway, because a try maps clusters, which takes milliseconds.
///
///   s(h,i,j) +=! Q(h,i,d) * K(h,j,d)   ...   O(h,i,c) +=! p(h,i,j) * V(h,j,c)     1024 of i: strips of 128 in each iteration of h
///   H(m,k) +=! X(m,i) * W(k,i)   Y(m,n) +=! H(m,k) * U(n,k)     large W, U: apart, because each strip would read them again
std::vector<polyhedral::Strips> choose_strips(const polyhedral::Scop& scop, const polyhedral::Dependences& dependences,
                                              const Target& target, const polyhedral::MappingOptions& options,
                                              const OperationsOfBodies& bodies = {});

}  // namespace tc::strategy
