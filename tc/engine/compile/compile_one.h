#pragma once

#include <memory>
#include <vector>

#include "tc/engine/compile/compile_options.h"

namespace tc::engine {

/// The machine code of \p function as one program: calls are inlined, and options.constants are left to be bound. A routine of a
/// library computes all of it, or none. Arguments and errors are those of compile() (tc/engine/graph/compile.h).
std::shared_ptr<const Executable> compile_one(const std::shared_ptr<const Function>& function,
                                              const std::vector<TensorSpec>& inputs,
                                              const std::vector<TensorSpec>& outputs, const CompileOptions& options);

}  // namespace tc::engine
