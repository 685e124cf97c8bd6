#include "tc/engine/compile/price_function.h"

#include <algorithm>

#include "tc/engine/compile/body_operations.h"
#include "tc/engine/compile/library_call.h"
#include "tc/lang/syntax/print.h"
#include "tc/layout/rewrite/propagate.h"
#include "tc/polyhedral/core/isl.h"
#include "tc/strategy/price/machine_rates.h"
#include "tc/strategy/price/price.h"

namespace tc::engine {
namespace {

/// The sum of the prices of the clusters of \p launch; nothing where one has no mapping.
std::optional<double> price_launch(const LaunchState& launch, const strategy::OperationsOfBodies& bodies,
                                   const Target& target) {
  const auto& on = launch.cpu();
  if (!launch.scop || launch.scop->statements.empty()) return 0.0;
  if (!on.mapping) return std::nullopt;
  double seconds = 0;
  for (std::size_t c = 0; c < launch.clusters.size(); ++c) {
    if (on.clusters[c].left_alone) return std::nullopt;
    const strategy::PricedCluster cluster(*launch.scop, launch.clusters[c], target, bodies);
    seconds += strategy::price(cluster, on.nests[c], on.mapping->buffer_bytes).seconds;
  }
  return seconds;
}

std::optional<double> price_launches(const CompileState& state) {
  const auto bodies = body_operations(*state.program);
  double seconds = 0;
  for (const auto& launch : state.launches) {
    const auto price = price_launch(launch, bodies, state.target);
    if (!price) return std::nullopt;
    seconds += *price;
  }
  return seconds;
}

/// A product of matrices reads an operand, writes it in blocks, and reads these (Goto and van de Geijn, "Anatomy of
/// high-performance matrix multiplication", 2008).
constexpr double passes_of_an_operand = 3;

/// What \p call takes at least for moving its operands, which each of its runs does anew, from the cache that they fit into.
double moving_seconds(const library::Call& call, const std::vector<Argument>& arguments, const Target& target) {
  const auto& rates = strategy::rates_of(target);
  double bytes = 0;
  for (const auto& operand : call.operands) {
    const auto& spec = arguments[operand.argument].spec;
    auto own = static_cast<double>(byte_size(operand.type));
    for (const auto extent : spec.shape) own *= static_cast<double>(extent);
    for (std::size_t l = 0; l < call.loops.size(); ++l)
      if (operand.steps[l] != 0) own /= static_cast<double>(call.loops[l]);
    bytes += own;
  }
  const double rate = bytes <= static_cast<double>(target.l2_bytes)   ? rates.l2_bytes
                      : bytes <= static_cast<double>(target.l3_bytes) ? rates.l3_bytes
                                                                      : rates.memory_bytes;
  return passes_of_an_operand * static_cast<double>(call.times()) * bytes / rate / rates.hertz;
}

struct InLayouts {
  std::shared_ptr<const Function> function;
  std::vector<Argument> arguments;
};

/// For prices: nothing is proved. Throws OptionsError where \p def cannot take \p layouts.
InLayouts make_in_layouts(const lang::InlinedDef& def, const lang::SizeMap& sizes, const layout::Layouts& layouts) {
  const auto made = layout::apply_layouts(def, sizes, layout::propagate(def, sizes, layouts), layout::Proofs::None);
  const auto function = define(lang::print(made.def()), made.def().name).functions.front();
  std::vector<TensorSpec> inputs;
  for (const auto& param : function->def.params) {
    std::vector<std::int64_t> shape;
    for (const auto& range : lang::evaluate_box(function->ranges.tensors.at(param.name), {}))
      shape.push_back(range.extent);
    inputs.push_back(contiguous(function->def.tensors.at(param.name).type, shape));
  }
  return {function, make_arguments(*function, inputs, {})};
}

/// price_function() on a GPU: the sum of the prices of kernels, or the predicted seconds of a routine.
std::optional<double> price_on_grid(const std::shared_ptr<const Function>& function,
                                    const std::vector<Argument>& arguments, const CompileOptions& options) {
  if (options.libraries != "none")
    if (const auto choice = choose_library_call(*function, arguments, options); choice.seconds) return choice.seconds;
  auto how = options;
  how.libraries = "none";
  how.stages.verify = how.stages.keep_text = false;
  how.stages.dump_directory.clear();
  auto result = std::make_shared<std::optional<double>>();
  map_launches(
      function, arguments, how,
      [result](CompileState& state) {
        for (const auto& price : grid_prices_of(state)) *result = result->value_or(0) + price.seconds;
      },
      Phase::Choose);
  return *result;
}

}  // namespace

std::optional<double> price_function(const std::shared_ptr<const Function>& function,
                                     const std::vector<Argument>& arguments, const CompileOptions& options) {
  if (options.target.grid) return price_on_grid(function, arguments, options);
  auto how = options;
  how.stages.verify = how.stages.keep_text = false;
  how.stages.dump_directory.clear();
  auto result = std::make_shared<std::optional<double>>();
  map_launches(
      function, arguments, how, [result](CompileState& state) { *result = price_launches(state); }, Phase::Choose);
  if (!*result || options.libraries == "none") return *result;
  const auto choice = choose_library_call(*function, arguments, options);
  if (!choice.call) return *result;
  const bool measured = choice.speed != 1;
  return measured ? **result / choice.speed
                  : std::max(**result, moving_seconds(*choice.call, arguments, options.target));
}

std::vector<strategy::GridPrice> grid_prices_of(const CompileState& state) {
  std::vector<strategy::GridPrice> result;
  auto bodies = body_operations(*state.program);
  for (const auto& launch : state.launches) {
    const auto* on = std::get_if<GridLaunch>(&launch.on);
    if (!on || !on->mapping || !launch.scop) continue;
    polyhedral::OperationQuota quota(launch.scop->ctx(), state.mapping.quota * launch.scop->statements.size());
    try {
      for (std::size_t i = 0; i < launch.clusters.size(); ++i)
        result.push_back(
            strategy::grid_price({*launch.scop, launch.clusters[i], state.target, bodies}, on->nests[i].nest));
    } catch (const isl::exception&) {
      return {};
    }
  }
  return result;
}

std::optional<double> price_in_layouts(const lang::InlinedDef& def, const lang::SizeMap& sizes,
                                       const layout::Layouts& layouts, const CompileOptions& options) {
  try {
    const auto made = make_in_layouts(def, sizes, layouts);
    return price_function(made.function, made.arguments, options);
  } catch (const OptionsError&) {
    return std::nullopt;
  }
}

CallsInLayouts calls_in_layouts(const lang::InlinedDef& def, const lang::SizeMap& sizes, const layout::Layouts& layouts,
                                const CompileOptions& options) {
  try {
    auto made = make_in_layouts(def, sizes, layouts);
    return {library_calls(*made.function, made.arguments, options), std::move(made.arguments)};
  } catch (const OptionsError&) {
    return {};
  }
}

}  // namespace tc::engine
