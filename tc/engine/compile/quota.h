#pragma once

#include <algorithm>
#include <string>

#include "tc/engine/compile/pipeline.h"

namespace tc::engine {

/// Reports that \p phase exhausted \p operations isl operations, and the consequence.
void note_exhaustion(CompileState& state, const std::string& phase, unsigned long operations,
                     const std::string& consequence);

/// Runs \p work with the \p left operations of an isl quota (0: no limit) and subtracts the operations used; false if
/// they do not suffice.
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

/// Runs \p work with the isl operations that the options allow for each of \p parts; on exhaustion, reports it and
/// runs \p otherwise.
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
