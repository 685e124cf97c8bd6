#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tc/engine/graph/graph_plan.h"

namespace tc::engine {

/// compile() or a replacement; options.partition is Partition::One.
using CompilePart = std::function<std::shared_ptr<const Executable>(const PartProblem&, const CompileOptions&)>;

/// The problems of \p plan compiled by \p compile_part, in parallel, in as many threads as kernels use, within the
/// limits of \p options. If one fails, the others are cancelled, and its exception is thrown.
std::vector<std::shared_ptr<const Executable>> compile_parts(const GraphPlan& plan, const CompileOptions& options,
                                                             const CompilePart& compile_part);

/// The executable of \p function for \p arguments that runs the executables of \p plan's problems part by part.
/// Tensors between parts share one workspace according to their lifetimes, and results are written directly to the
/// caller's outputs. Parts that depend on options.constants alone run now, and their results become constants.
std::shared_ptr<const Executable> join_parts(const Function& function, const std::vector<Argument>& arguments,
                                             const GraphPlan& plan, const CompileOptions& options,
                                             const std::vector<std::shared_ptr<const Executable>>& executables);

}  // namespace tc::engine
