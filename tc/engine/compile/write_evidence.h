#pragma once

#include <string>

namespace tc::engine {

struct CompileState;

/// The evidence about the kernel of the compile \p state, which is done: the bytes of a proto::Evidence (tc/proto/evidence.proto), which
/// proof::check proves from the text alone. "" for kernels of a GPU, about which nothing is stated yet. Throws CancelledError.
std::string write_evidence(const CompileState& state);

}  // namespace tc::engine
