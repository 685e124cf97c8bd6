#pragma once

#include <Halide.h>

#include "tc/base/target.h"

namespace tc::cpu {

/// The processor of \p target in the words of Halide, with the instructions that it knows.
Halide::Target halide_processor(const Target& target);

}  // namespace tc::cpu
