#pragma once

#include <string>
#include <vector>

#include "tc/base/contraction.h"
#include "tc/base/marked_line.h"
#include "tc/base/target.h"
#include "tc/cpu/marked/buffer_uses.h"

namespace Halide::Internal {
struct Stmt;
}

namespace tc::cpu {

/// What disassemble() prints of emit_prepared() of the same arguments, each instruction with the statements
/// of \p uses for which it runs, as far as that can be told: optimised code is asked what it stores and loads. What no
/// store or sum needs, counting and jumping, is of all statements of its block.
std::vector<MarkedLine> marked_assembly(const std::string& function, const Halide::Internal::Stmt& body,
                                        const std::vector<std::string>& buffers, const Target& target,
                                        const std::vector<BufferUse>& uses,
                                        Contraction contraction = Contraction::Found);

}  // namespace tc::cpu
