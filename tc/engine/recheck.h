#pragma once

#include <string>

#include "tc/cache/entry.h"

namespace tc::engine {

/// Asks the laws again about \p entry, machine code of the cache that this build made: compiles its source for its
/// tensors, target and options with all laws. "" if they hold and the same machine code comes out, else what is wrong.
std::string recheck(const cache::CodeEntry& entry);

}  // namespace tc::engine
