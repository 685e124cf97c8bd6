#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tc/halide_bridge/infer/def_state.h"
#include "tc/halide_bridge/infer/subscripts.h"

/// What range inference says of a statement.
namespace tc::halide_bridge {

/// Where \p iterator stands in \p assignment first; the target where it does not.
lang::SourceRange place_of(const lang::Assignment& assignment, const std::string& iterator);

/// Reports that the tensor of \p subscript has no value yet, and leaves its box open.
void report_missing_target(DefState& state, const Subscript& subscript);

/// Reports that the ranges of \p assignment are beyond what is computed with.
void report_too_complicated(DefState& state, const lang::Assignment& assignment);

/// Reports \p iterators, which have no range: one error for each that no subscript of \p subscripts constrains, and one
/// for those that depend on one another. \p solved_for: the subscripts that bounds were looked for in; the others are
/// held by a condition.
void report_unsolved(DefState& state, const lang::Assignment& assignment, const std::vector<std::string>& iterators,
                     const std::vector<Subscript>& subscripts, const std::vector<const Subscript*>& solved_for);

/// For each iterator, the sizes that stand alone as extents of what it subscripts by itself, with where they do.
using IteratorSizes = std::map<std::string, std::map<std::string, const Subscript*>>;

/// Warns of iterators that take the smaller of two \p sizes, which seldom is meant, but of none that has a range that is
/// \p given.
void warn_of_sizes(DefState& state, const IteratorSizes& sizes, const std::set<std::string>& given);

/// Warns that the element of \p subscript is never read, because its guards hold for none of \p ranges, where the range of an
/// iterator among these follows from other accesses and is not \p given.
///
///   Y(i) = i < M ? A(i) : B(i - M)      with float(M) A: i in [0, M), so B is not read
void warn_of_unread(DefState& state, const Subscript& subscript, const Environment& ranges,
                    const std::set<std::string>& given);

}  // namespace tc::halide_bridge
