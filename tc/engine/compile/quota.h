#pragma once

#include <algorithm>
#include <string>

#include "tc/base/log.h"
#include "tc/base/str.h"
#include "tc/engine/compile/pipeline.h"

namespace tc::engine {

/// Runs \p work with so many isl operations to spend as the options say, for each of \p parts; on exhaustion notes it
/// and runs \p otherwise.
template <typename Work, typename Otherwise>
void with_quota(CompileState& state, const polyhedral::Scop& scop, const std::string& phase,
                const std::string& consequence, std::size_t parts, Work&& work, Otherwise&& otherwise) {
  auto operations = state.mapping.quota * std::max<std::size_t>(parts, 1);
  {
    polyhedral::OperationQuota quota(scop.ctx(), operations);
    try {
      work();
      return;
    } catch (const isl::exception& error) {
      state.cancellation.check(phase.c_str());
      if (!quota.caused(error)) throw;
    }
  }
  state.fallbacks.push_back(str(phase, " ran out of its quota of ", operations, " isl operations: ", consequence));
  if (logging()) log(LogLevel::Warning, state.fallbacks.back());
  otherwise();
}

}  // namespace tc::engine
