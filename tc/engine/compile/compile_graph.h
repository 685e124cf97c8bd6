#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tc/engine/compile/graph_plan.h"

namespace tc::engine {

/// compile() or what stands for it: options.partition is Partition::One.
using CompilePart = std::function<std::shared_ptr<const Executable>(const PartProblem&, const CompileOptions&)>;

/// The problems of \p plan compiled by \p compile_part, several at a time, in as many threads as kernels run in, all
/// within the limits of \p options. Throws what the first of them throws that fails; the others are told to stop.
std::vector<std::shared_ptr<const Executable>> compile_parts(const GraphPlan& plan, const CompileOptions& options,
                                                             const CompilePart& compile_part);

/// The executable of \p function for \p arguments that runs the executables of \p plan's problems part by part. Tensors
/// between parts share one workspace, as long as they live; results are written where the caller wants them. Parts that
/// options.constants alone decide run now, and what they give to others become constants.
std::shared_ptr<const Executable> join_parts(const Function& function, const std::vector<Argument>& arguments,
                                             const GraphPlan& plan, const CompileOptions& options,
                                             const std::vector<std::shared_ptr<const Executable>>& executables);

/// \p function run by the interpreter node by node, for inputs of which \p graph was made and outputs like \p arguments.
Executable::Interpreter graph_interpreter(graph::Graph graph, const std::vector<Argument>& arguments);

}  // namespace tc::engine
