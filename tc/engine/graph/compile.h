#pragma once

#include <memory>
#include <vector>

#include "tc/engine/compile/compile_options.h"

namespace tc::engine {

/// The machine code of \p function for tensors like \p inputs and \p outputs; empty \p outputs: dense ones.
///
/// A def with calls, or with many statements, is cut into parts (graph::partition) according to options.partition;
/// equal parts are compiled once, different ones in parallel. Nodes that depend on constants alone become separate
/// parts.
/// Throws ArgumentError for tensors that do not fit, OptionsError for invalid options and replacements, ResourceError
/// beyond a limit, CancelledError after a request, and InternalError for a violated invariant. An exhausted isl quota
/// is not an error: a simpler schedule is used, and stats().fallbacks reports it.
std::shared_ptr<const Executable> compile(const std::shared_ptr<const Function>& function,
                                          const std::vector<TensorSpec>& inputs,
                                          const std::vector<TensorSpec>& outputs = {},
                                          const CompileOptions& options = {});

}  // namespace tc::engine
