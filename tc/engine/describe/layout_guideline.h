#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tc/engine/compile/compile_options.h"
#include "tc/layout/rewrite/apply.h"
#include "tc/layout/rewrite/layout_template.h"

namespace tc::engine {

/// Layouts of the operands of a def, and what it costs in them.
struct PricedLayouts {
  layout::Layouts layouts;  ///< of operands that are not as they are
  double microseconds = 0;  ///< by price_function()
};

/// What the compiler's own code for \p function likes: its alternatives (graph::layout_alternatives, mixed ones too) for \p inputs,
/// those that it can take, the cheapest first; of equal prices the one with fewer layouts. Conversions are not counted. Calls
/// are written out. Empty where nothing prices the target. It stays within the limits of \p options. Throws ArgumentError for
/// inputs that do not fit, else as run_supervised().
std::vector<PricedLayouts> layout_guideline(const std::shared_ptr<const Function>& function,
                                            const std::vector<TensorSpec>& inputs, const CompileOptions& options);

/// Seconds that price_in_layouts() predicts for \p function on \p inputs in each of \p choices, each a set of layouts of its
/// tensors; nothing where it cannot take them. Otherwise as layout_guideline().
std::vector<std::optional<double>> layout_prices(const std::shared_ptr<const Function>& function,
                                                 const std::vector<TensorSpec>& inputs,
                                                 const std::vector<layout::Layouts>& choices,
                                                 const CompileOptions& options);

/// The template of the layouts of \p function for \p inputs (layout::layout_template). Calls are written out. It stays
/// within \p limits. Throws ArgumentError for inputs that do not fit, else as run_supervised().
layout::LayoutTemplate layout_template(const std::shared_ptr<const Function>& function,
                                       const std::vector<TensorSpec>& inputs, const Limits& limits = {});

}  // namespace tc::engine
