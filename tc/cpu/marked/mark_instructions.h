#pragma once

#include <set>
#include <string>
#include <vector>

#include "tc/cpu/marked/buffer_uses.h"

namespace llvm {
class Module;
}

namespace tc::cpu {

/// Gives each instruction of \p module, of optimised code, a place of debug information: line n + 1 says that it runs for the
/// statements result[n] of \p uses, line 0 that for none.
///
/// A store runs for the owners() of what it stores, and so does what computes it; a sum in a register for those of the
/// terms it adds; of the rest, what a block has.
std::vector<std::set<std::string>> mark_instructions(llvm::Module& module, const std::vector<BufferUse>& uses);

}  // namespace tc::cpu
