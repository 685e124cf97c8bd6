#pragma once

#include <string>

#include "tc/base/target.h"

namespace tc::cpu {

/// The lane functions (see lane_functions.h) on elements narrower than 32 bits, as LLVM IR.
std::string narrow_functions(const Target& target);

}  // namespace tc::cpu
