#include "tc/engine/compile/quota.h"

#include "tc/base/log.h"
#include "tc/base/str.h"

namespace tc::engine {

void note_exhaustion(CompileState& state, const std::string& phase, unsigned long operations,
                     const std::string& consequence) {
  state.fallbacks.push_back(str(phase, " ran out of its quota of ", operations, " isl operations: ", consequence));
  if (logging()) log(LogLevel::Warning, state.fallbacks.back());
}

}  // namespace tc::engine
