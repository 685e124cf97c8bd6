#include "tc/polyhedral/map_cpu/ragged_lanes.h"
#include "tc/polyhedral/core/constraints.h"

namespace tc::polyhedral {
namespace {

/// Is dimension \p iterator, of \p count, at least something that another one of them changes?
bool is_bounded_below(const Constraint& constraint, int iterator, int count) {
  if (constraint.factors[static_cast<std::size_t>(iterator)] <= 0) return false;
  bool result = false;
  for (int i = 0; i < count; ++i) result = result || constraint.factors[static_cast<std::size_t>(i)] < 0;
  return result;
}

}  // namespace

bool has_ragged_lanes(const Statement& statement, int iterator) {
  bool result = false;
  const int count = dimensions(statement.domain);
  statement.domain.foreach_basic_set([&](const isl::basic_set& piece) {
    for (const auto& constraint : constraints(piece)) result = result || is_bounded_below(constraint, iterator, count);
  });
  return result;
}

ClusterMapping without_ragged_lanes(const Scop& scop, ClusterMapping mapping) {
  std::erase_if(mapping.statements, [&](const StatementMapping& choice) {
    return choice.iterator >= 0 && has_ragged_lanes(scop.statement(choice.id), choice.iterator);
  });
  return mapping;
}

}  // namespace tc::polyhedral
