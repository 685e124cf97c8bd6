#pragma once

#include "tc/engine/run/executable.h"
#include "tc/proof/verdict.h"

namespace tc::engine {

/// Do the loops of \p image compute what its text means? Asks the checker of tc/proof about the evidence in it, and whether that is of
/// this text, these tensors and this machine code. Not decided: kernels without evidence (GPUs, routines of libraries, symbolic
/// sizes), and what joins the parts of a graph, whose parts are asked one by one.
proof::Verdict proof_of(const Image& image);

}  // namespace tc::engine
