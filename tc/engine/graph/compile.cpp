#include "tc/engine/graph/compile.h"

#include "tc/engine/compile/bind_constants.h"
#include "tc/engine/compile/compile_one.h"
#include "tc/engine/compile/library_call.h"
#include "tc/engine/define/generic.h"
#include "tc/engine/define/typed_errors.h"
#include "tc/engine/graph/compile_graph.h"
#include "tc/engine/graph/finalists.h"
#include "tc/engine/graph/graph_plan.h"
#include "tc/engine/graph/symbolic_sizes.h"

namespace tc::engine {
namespace {

/// \p function compiled in parts; null where it is one.
std::shared_ptr<const Executable> compile_as_graph(const std::shared_ptr<const Function>& function,
                                                   const std::vector<TensorSpec>& inputs,
                                                   const std::vector<TensorSpec>& outputs,
                                                   const CompileOptions& options) {
  if (options.interpret || !options.symbolic.empty()) return nullptr;
  auto limits = limits_of(options);
  CancellationScope scope(limits.cancellation);
  limits.cancellation.check("the compiler");
  const auto arguments = make_arguments(*function, inputs, outputs, options);
  auto how = options;
  how.stages.cancellation = limits.cancellation;
  how.time_limit = 0;
  const auto plan = plan_graph(function, arguments, how);
  if (!plan) return nullptr;
  auto parts = compile_parts(*plan, how, [](const PartProblem& problem, const CompileOptions& own) {
    return compile(problem.function, problem.inputs, problem.outputs, own);
  });
  return join_parts(*function, arguments, *plan, options, parts);
}

/// compile() of \p options without constants, or with those of a graph left to be bound.
std::shared_ptr<const Executable> compile_unbound(const std::shared_ptr<const Function>& function,
                                                  const std::vector<TensorSpec>& inputs,
                                                  const std::vector<TensorSpec>& outputs,
                                                  const CompileOptions& options) {
  if (auto made = compile_as_graph(function, inputs, outputs, options)) return made;
  return compile_one(function, inputs, outputs, options);
}

/// \p options for code whose sums have an order that their own lengths decide. Routines of libraries and derived programs promise no
/// order, and a layout, which the other sizes decide too, could change it. Throws OptionsError where they are asked for.
CompileOptions with_fixed_orders(CompileOptions options) {
  if (!asked_libraries(options.libraries).none())
    throw OptionsError(
        "mapping option 'batch_invariant=1' holds for the compiler's own code: leave out 'libraries', whose routines "
        "promise no order of sums");
  if (options.derive > 0 || !options.derivation.empty())
    throw OptionsError(
        "mapping option 'batch_invariant=1' keeps the sums that the text says: leave out 'derive', which changes them");
  options.layouts = graph::LayoutMode::Off;
  return options;
}

}  // namespace

std::shared_ptr<const Executable> compile(const std::shared_ptr<const Function>& function,
                                          const std::vector<TensorSpec>& inputs, const std::vector<TensorSpec>& outputs,
                                          const CompileOptions& options) {
  if (function->generic) return compile(instance_for(function, inputs), inputs, outputs, options);
  if (!options.dynamic.empty() && !options.interpret)
    return compile_for_ranges(
        function, inputs, outputs, options,
        [](const auto& which, const auto& ins, const auto& outs, const CompileOptions& how) {
          return compile(which, ins, outs, how);
        },
        false);
  return with_typed_errors("compile", reproduction_for(*function, inputs, options), [&] {
    auto how = options.mapping.values().batch_invariant ? with_fixed_orders(options) : options;
    how.constants = check_constants(*function, inputs, options);
    for (const auto& constant : how.constants) how.held.insert(constant.name);
    const auto make = [&](const CompileOptions& own) {
      auto made = compile_unbound(function, inputs, outputs, own);
      return own.constants.empty() ? made : bind_constants(made, own.constants);
    };
    if (!has_finalists(how)) return make(how);
    return fastest_finalist(*function, make_arguments(*function, inputs, outputs, how), how, make);
  });
}

}  // namespace tc::engine
