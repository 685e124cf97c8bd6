#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tc/engine/graph/graph_plan.h"

/// One code for many values of a size, of defs that are compiled in parts.
namespace tc::engine {

/// A compile of a def for given tensors.
using CompileFor = std::function<std::shared_ptr<const Executable>(
    const std::shared_ptr<const Function>& function, const std::vector<TensorSpec>& inputs,
    const std::vector<TensorSpec>& outputs, const CompileOptions& options)>;

/// A def compiled in parts for ranges of sizes: the plan for the largest, and the code of each of its problems, which is told the
/// symbolic sizes of its own.
struct RangeGraph {
  GraphPlan plan;
  std::vector<std::shared_ptr<const Executable>> codes;
};

/// \p function in parts for \p inputs, the largest, and options.symbolic, the least; null where it is one part. One that was made before is
/// given again where \p keeps. Throws as plan_graph() and \p compile_for do.
std::shared_ptr<const RangeGraph> compile_graph_for_ranges(const std::shared_ptr<const Function>& function,
                                                           const std::vector<TensorSpec>& inputs,
                                                           const CompileOptions& options, const CompileFor& compile_for,
                                                           bool keeps);

/// \p whole, of \p function, for tensors like \p inputs: its parts are told their sizes, and tensors between them stand where those of
/// these sizes have room. Throws ArgumentError for sizes that the code is not for.
std::shared_ptr<const Executable> bind_graph_sizes(const RangeGraph& whole, const Function& function,
                                                   const std::vector<TensorSpec>& inputs,
                                                   const CompileOptions& options);

}  // namespace tc::engine
