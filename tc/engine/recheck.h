#pragma once

#include <string>

#include "tc/cache/entry.h"

namespace tc::engine {

/// Asks the laws again about \p entry, machine code of the cache that this build made: compiles its source for its
/// tensors, target and options with all laws. "" if they hold and the same machine code comes out, else what is wrong. Options that
/// search from what a cache holds for other shapes (begins_at_nearest()) fix no code: of them the laws are asked alone.
std::string recheck(const cache::CodeEntry& entry);

}  // namespace tc::engine
