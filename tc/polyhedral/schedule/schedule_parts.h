#pragma once

#include <string>
#include <vector>

#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/core/scop.h"

/// Schedules made of parts, for passes that schedule some statements anew.
namespace tc::polyhedral {

/// The schedule of the statements \p ids of \p scop alone, by compute_schedule under \p options.
isl::schedule schedule_of(const Scop& scop, const std::vector<std::string>& ids, const MappingOptions& options);

/// One schedule of \p domain that runs \p parts, trees of other schedules, one after the other.
isl::schedule in_order(const std::vector<isl::schedule_node>& parts, const isl::union_set& domain);

}  // namespace tc::polyhedral
