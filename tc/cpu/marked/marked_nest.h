#pragma once

#include <vector>

#include "tc/base/marked_line.h"
#include "tc/cpu/marked/buffer_uses.h"

namespace Halide::Internal {
struct Stmt;
}

namespace tc::cpu {

/// \p body as Halide prints it, each line with the statements of \p uses for which it runs: a store by owners(), a loop, a condition
/// and an allocation with those of what stands in it.
std::vector<MarkedLine> marked_nest(const Halide::Internal::Stmt& body, const std::vector<BufferUse>& uses);

}  // namespace tc::cpu
