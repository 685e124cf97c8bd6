#pragma once

#include <optional>
#include <vector>

#include "tc/polyhedral/core/dependences.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/schedule/statement_graph.h"

namespace tc::polyhedral {

/// The schedule isl's scheduler finds for \p statements alone, or nothing if its hundredth of the quota of
/// \p options runs out.
std::optional<isl::schedule> schedule_with_isl(const StatementGraph& graph, const std::vector<int>& statements,
                                               const Dependences& dependences, const MappingOptions& options);

/// The leading coincident members of the outermost band of \p schedule, up to the first that is not one iterator of
/// each statement plus a constant, or that runs an iterator backward while \p options keep the positive orthant.
///
///   band [T[i] -> i; S[i] -> i + 1], [T[i] -> 0; S[i] -> i]      one row: T: i, S: i + 1
Rows coincident_rows(const isl::schedule& schedule, const StatementGraph& graph, const std::vector<int>& statements,
                     const MappingOptions& options);

/// Whether no row of any band of \p schedule has a negative coefficient of an iterator.
bool in_positive_orthant(const isl::schedule& schedule);

}  // namespace tc::polyhedral
