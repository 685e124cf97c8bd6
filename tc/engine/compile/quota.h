#pragma once

#include <algorithm>
#include <string>

#include "tc/engine/compile/pipeline.h"

namespace tc::engine {

/// Notes that \p phase ran out of \p operations isl operations, and what follows from it.
void note_exhaustion(CompileState& state, const std::string& phase, unsigned long operations,
                     const std::string& consequence);

/// Runs \p work with what is \p left of a quota of isl operations (0: no limit), from which it takes what was spent;
/// false if that does not suffice.
template <typename Work>
bool within_quota(CompileState& state, const polyhedral::Scop& scop, const std::string& phase, unsigned long& left,
                  Work&& work) {
  polyhedral::OperationQuota quota(scop.ctx(), left);
  try {
    work();
  } catch (const isl::exception& error) {
    state.cancellation.check(phase.c_str());
    if (!quota.caused(error)) throw;
    return false;
  }
  if (left > 0) left -= std::min(quota.spent(), left - 1);
  return true;
}

/// Runs \p work with so many isl operations to spend as the options say, for each of \p parts; on exhaustion notes it
/// and runs \p otherwise.
template <typename Work, typename Otherwise>
void with_quota(CompileState& state, const polyhedral::Scop& scop, const std::string& phase,
                const std::string& consequence, std::size_t parts, Work&& work, Otherwise&& otherwise) {
  const unsigned long operations = state.mapping.quota * std::max<std::size_t>(parts, 1);
  auto left = operations;
  if (within_quota(state, scop, phase, left, work)) return;
  note_exhaustion(state, phase, operations, consequence);
  otherwise();
}

}  // namespace tc::engine
