#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tc/engine/compile/compile_options.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/layout/rewrite/apply.h"
#include "tc/library/description/call.h"
#include "tc/strategy/grid_price/grid_price.h"

namespace tc::engine {

/// Seconds that a run of \p function, which holds no calls, may take on \p arguments: it is scheduled and mapped as \p options
/// say, and the prices of its clusters are added: strategy::price() on a processor, strategy::grid_price() on a GPU. No pass is carried
/// out and nothing is compiled or measured. Good for comparing programs that compute the same. Nothing where a quota ran out before the mapping.
///
/// Where options.libraries takes a routine for it: on a processor, it is as many times as cheap as the prices of libraries tell; where they
/// tell nothing, as dear as own code, or as moving its operands in each of its runs. On a GPU, the predicted seconds of the routine.
///
/// Throws as map_launches().
std::optional<double> price_function(const std::shared_ptr<const Function>& function,
                                     const std::vector<Argument>& arguments, const CompileOptions& options);

/// Prices the kernels that are chosen for the clusters of \p state; none where isl fails or runs out of its quota.
std::vector<strategy::GridPrice> grid_prices_of(const CompileState& state);

/// price_function() of \p def, without calls, for \p sizes with tensors in \p layouts, and dense ones else. Nothing, too, where it cannot
/// take them.
std::optional<double> price_in_layouts(const lang::InlinedDef& def, const lang::SizeMap& sizes,
                                       const layout::Layouts& layouts, const CompileOptions& options);

/// Calls of libraries for a def, and the def's tensors.
struct CallsInLayouts {
  std::vector<library::Call> calls;
  std::vector<Argument> arguments;
};

/// The calls that library_calls() finds for \p def, without calls, in these layouts. None, too, where it cannot take them.
CallsInLayouts calls_in_layouts(const lang::InlinedDef& def, const lang::SizeMap& sizes, const layout::Layouts& layouts,
                                const CompileOptions& options);

}  // namespace tc::engine
