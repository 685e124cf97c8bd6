#include "tc/engine/describe/layout_guideline.h"

#include <algorithm>

#include "tc/engine/compile/price_function.h"
#include "tc/engine/graph/graph_layouts.h"
#include "tc/graph/layout_alternatives.h"

namespace tc::engine {

namespace {

std::vector<PricedLayouts> priced(const std::shared_ptr<const Function>& function,
                                  const std::vector<TensorSpec>& inputs, const CompileOptions& options) {
  const auto whole = inlined(function);
  const auto sizes = bind_inputs(*whole, inputs);
  const lang::InlinedDef def{whole->def, whole->ranges};
  std::vector<PricedLayouts> result;
  for (const auto& layouts : graph::layout_alternatives(def, sizes, {block_of(options.target), {}, true})) {
    auto named = by_name(def.def, layouts);
    const auto seconds = price_in_layouts(def, sizes, named, options);
    if (seconds) result.push_back({std::move(named), 1e6 * *seconds});
  }
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return std::pair(a.microseconds, a.layouts.of.size()) < std::pair(b.microseconds, b.layouts.of.size());
  });
  return result;
}

}  // namespace

std::vector<PricedLayouts> layout_guideline(const std::shared_ptr<const Function>& function,
                                            const std::vector<TensorSpec>& inputs, const CompileOptions& options) {
  return supervised(limits_of(options), "a choice of layouts", [=](const Supervision& supervision) {
    auto how = options;
    how.stages.cancellation = supervision.cancellation();
    how.time_limit = 0;
    return priced(function, inputs, how);
  });
}

std::vector<std::optional<double>> layout_prices(const std::shared_ptr<const Function>& function,
                                                 const std::vector<TensorSpec>& inputs,
                                                 const std::vector<layout::Layouts>& choices,
                                                 const CompileOptions& options) {
  return supervised(limits_of(options), "prices of layouts", [=](const Supervision& supervision) {
    auto how = options;
    how.stages.cancellation = supervision.cancellation();
    how.time_limit = 0;
    const auto whole = inlined(function);
    const auto sizes = bind_inputs(*whole, inputs);
    std::vector<std::optional<double>> result;
    for (const auto& layouts : choices)
      result.push_back(price_in_layouts({whole->def, whole->ranges}, sizes, layouts, how));
    return result;
  });
}

layout::LayoutTemplate layout_template(const std::shared_ptr<const Function>& function,
                                       const std::vector<TensorSpec>& inputs, const Limits& limits) {
  return supervised(limits, "a template of layouts", [=](const Supervision&) {
    const auto whole = inlined(function);
    return layout::layout_template({whole->def, whole->ranges}, bind_inputs(*whole, inputs));
  });
}

}  // namespace tc::engine
