#include "tc/engine/graph/graph_layouts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tc/base/cancellation.h"
#include "tc/base/str.h"
#include "tc/engine/compile/library_call.h"
#include "tc/engine/compile/price_function.h"
#include "tc/graph/choose_graph_layouts.h"
#include "tc/graph/lay_out.h"
#include "tc/layout/map/layout_map.h"
#include "tc/layout/rewrite/apply.h"
#include "tc/library/description/argument_layout.h"
#include "tc/library/registry.h"

namespace tc::engine {
namespace {

/// Prices of nodes in layouts, each asked for once.
class LayoutPrices {
 public:
  LayoutPrices(const graph::Graph& graph, const CompileOptions& options) : graph_(graph), options_(options) {
    options_.partition = graph::Partition::One;
    options_.layouts = graph::LayoutMode::Off;
    options_.constants.clear();
    options_.unaligned.clear();
  }

  std::optional<double> of_node(const graph::Node& node, const graph::OperandLayouts& layouts) {
    const auto [known, is_new] = known_.try_emplace(key_of(node, layouts));
    if (is_new) known->second = seconds(node, layouts);
    return known->second;
  }

  /// Is \p node in \p layouts a call of the library that was asked for? Its price differs from that in other layouts by the
  /// copies alone.
  bool is_named_call(const graph::Node& node, const graph::OperandLayouts& layouts) {
    return is_named() && is_call(node, layouts);
  }

  double of_conversion(const graph::Tensor& tensor) {
    const auto [known, is_new] = conversions_.try_emplace(str(tensor.spec));
    if (is_new) known->second = conversion_seconds(tensor);
    return known->second;
  }

  /// The layouts that libraries which may be called ask for \p node, in which they take it.
  const std::vector<graph::OperandLayouts>& of_libraries(const graph::Node& node) {
    const auto [known, is_new] = of_libraries_.try_emplace(key_of(node, {}));
    if (is_new) known->second = in_library_layouts(node);
    return known->second;
  }

 private:
  double conversion_seconds(const graph::Tensor& tensor) const {
    const auto rank = tensor.spec.shape.size();
    std::vector<std::size_t> order{0};
    for (std::size_t d = 2; d < rank; ++d) order.push_back(d);
    order.push_back(1);
    if (rank == 2) order = {1, 0};
    const auto made = layout::conversion(tensor.spec.dtype, tensor.spec.shape, {}, layout::Layout().reorder(order));
    return price_in_layouts({made.def(), made.ranges}, {}, {}, options_).value_or(0);
  }

  std::string key_of(const graph::Node& node, const graph::OperandLayouts& layouts) const {
    TextStream key;
    key << node.def.get();
    for (const auto tensor : node.inputs) key << " " << graph_.tensors[tensor].spec;
    for (const auto& layout : layouts) key << "; " << to_string(layout);
    return key.str();
  }
  static graph::OperandLayouts plain(const graph::Node& node) {
    return graph::OperandLayouts(node.inputs.size() + node.outputs.size());
  }
  std::size_t tensor_of(const graph::Node& node, std::size_t argument) const {
    return argument < node.inputs.size() ? node.inputs[argument] : node.outputs[argument - node.inputs.size()];
  }

  bool is_named() const {
    const auto asked = asked_libraries(options_.libraries);
    return !asked.none() && !asked.any();
  }

  bool is_call(const graph::Node& node, const graph::OperandLayouts& layouts) {
    return !calls_of(node, layouts).calls.empty();
  }
  const CallsInLayouts& calls_of(const graph::Node& node, const graph::OperandLayouts& layouts) {
    const auto [known, is_new] = calls_.try_emplace(key_of(node, layouts));
    if (is_new)
      known->second =
          calls_in_layouts(*node.def, graph::sizes_of(graph_, node), by_name(node.def->def, layouts), options_);
    return known->second;
  }

  std::optional<double> own_seconds(const graph::Node& node, const graph::OperandLayouts& layouts) {
    const auto [known, is_new] = own_.try_emplace(key_of(node, layouts));
    if (is_new)
      known->second =
          price_in_layouts(*node.def, graph::sizes_of(graph_, node), by_name(node.def->def, layouts), options_);
    return known->second;
  }

  /// A library that is asked for by name must not lose a node by layouts. Its call takes what it takes without layouts, and what
  /// its copies take.
  std::optional<double> seconds(const graph::Node& node, const graph::OperandLayouts& layouts) {
    if (!is_named()) return own_seconds(node, layouts);
    const bool without = is_call(node, plain(node));
    if (!is_call(node, layouts))
      return without || !of_libraries(node).empty() ? std::nullopt : own_seconds(node, layouts);
    auto result = own_seconds(node, without ? plain(node) : layouts);
    if (result) *result += copy_seconds(node, calls_of(node, layouts).calls.front());
    return result;
  }

  /// What \p call of \p node copies in each run to the layouts that it is fastest with.
  double copy_seconds(const graph::Node& node, const library::Call& call) {
    const auto liked = library::liked_operands(call);
    double result = 0;
    for (std::size_t i = 0; i < liked.size(); ++i)
      if (!(liked[i] == call.operands[i]))
        result += of_conversion(graph_.tensors[tensor_of(node, call.operands[i].argument)]);
    return result;
  }

  /// The layouts of the operands that \p call of \p node without layouts is fastest with.
  graph::OperandLayouts liked_layouts(const graph::Node& node, const library::Call& call) {
    const auto liked = library::liked_operands(call);
    auto result = plain(node);
    for (std::size_t i = 0; i < liked.size(); ++i) {
      const auto& operand = call.operands[i];
      if (liked[i] == operand) continue;
      const auto& spec = calls_of(node, plain(node)).arguments[operand.argument].spec;
      if (auto layout = library::layout_of_argument(spec, operand, liked[i]))
        result[operand.argument] = std::move(*layout);
    }
    return result;
  }

  std::vector<graph::OperandLayouts> in_library_layouts(const graph::Node& node) {
    std::vector<layout::Layout> layouts{layout::Layout()};
    const auto asked = asked_libraries(options_.libraries);
    for (const auto* library : library::libraries())
      if (asked.any() || asked.name == library->name)
        for (const auto& named : library->layouts) layouts.push_back(named.layout);
    std::vector<graph::OperandLayouts> found;
    if (layouts.size() > 1) add_taken(node, layouts, {}, found);
    for (const auto& call : calls_of(node, plain(node)).calls) add_if_taken(node, liked_layouts(node, call), found);
    return found;
  }
  /// Adds those of \p layouts for all operands, behind those in \p first, in which a library takes \p node.
  void add_taken(const graph::Node& node, const std::vector<layout::Layout>& layouts, graph::OperandLayouts first,
                 std::vector<graph::OperandLayouts>& found) {
    if (first.size() == plain(node).size()) return add_if_taken(node, first, found);
    const auto tensor = tensor_of(node, first.size());
    for (const auto& layout : layouts) {
      if (!fits(layout, graph_.tensors[tensor].spec.shape)) continue;
      auto next = first;
      next.push_back(layout);
      add_taken(node, layouts, std::move(next), found);
    }
  }
  void add_if_taken(const graph::Node& node, const graph::OperandLayouts& layouts,
                    std::vector<graph::OperandLayouts>& found) {
    if (layouts != plain(node) && is_call(node, layouts)) found.push_back(layouts);
  }
  static bool fits(const layout::Layout& layout, const layout::Extents& extents) {
    try {
      return layout::LayoutMap(layout, extents).facts().dense;
    } catch (const OptionsError&) {
      return false;
    }
  }

  const graph::Graph& graph_;
  CompileOptions options_;
  std::map<std::string, std::optional<double>> known_;
  std::map<std::string, std::vector<graph::OperandLayouts>> of_libraries_;
  std::map<std::string, CallsInLayouts> calls_;
  std::map<std::string, std::optional<double>> own_;
  std::map<std::string, double> conversions_;
};

std::string microseconds(double seconds) { return str(std::round(seconds * 1e7) / 10, " us"); }

std::vector<std::string> decisions_of(const graph::Graph& before, const graph::LaidOutGraph& made,
                                      const graph::GraphLayouts& chosen) {
  std::vector<std::string> lines;
  for (const auto& placed : made.placed) {
    const auto& tensor = before.tensors[placed.tensor];
    auto line = str(tensor.name, ": ", to_string(placed.layout));
    if (placed.converted) {
      const double weight = chosen.problem.tensors[placed.tensor].weight;
      line += weight == 0 ? ", converted once" : str(", converted in each run, ", microseconds(weight), " (model)");
    }
    lines.push_back(line);
  }
  for (const auto tensor : before.outputs)
    if (!chosen.resolution.produced[tensor].is_identity())
      lines.push_back(str(before.tensors[tensor].name, ": converted back for the caller, ",
                          microseconds(chosen.problem.tensors[tensor].weight), " (model)"));
  lines.push_back(str("nodes without layouts ", microseconds(chosen.plain_seconds), ", with them and conversions ",
                      microseconds(chosen.seconds), " (model)"));
  if (const auto bound = chosen.resolution.bound) {
    const double cost = chosen.resolution.cost(chosen.problem);
    lines.push_back(str("at most ", std::round(1000 * (cost - *bound) / std::max(*bound, 1e-12)) / 10,
                        " % more than the least cost (the search for layouts ended after its steps)"));
  }
  return lines;
}

/// Nothing where no choice is found in the steps that there are, or what was chosen is not proved in its quota.
std::optional<LaidOutPlan> laid_out(const graph::Graph& graph, const graph::GraphLayoutOptions& how) {
  try {
    const auto chosen = graph::choose_graph_layouts(graph, how);
    auto made = graph::lay_out(graph, chosen.resolution);
    if (made.placed.empty()) return std::nullopt;
    auto decisions = decisions_of(graph, made, chosen);
    return LaidOutPlan{std::move(made.graph), {made.conversions.begin(), made.conversions.end()}, std::move(decisions)};
  } catch (const ResourceError&) {
    check_cancelled("the layouts of a graph");
    return std::nullopt;
  }
}

/// What is left of Measured where nothing can be measured are constants.
bool constants_alone(graph::LayoutMode mode) {
  return mode == graph::LayoutMode::Constants || mode == graph::LayoutMode::Measured;
}

graph::GraphLayoutOptions options_of(const CompileOptions& options, LayoutPrices& prices) {
  graph::GraphLayoutOptions how;
  how.block = block_of(options.target);
  how.least_constant_gain = least_constant_layout_gain;
  how.constants_alone = constants_alone(options.layouts);
  how.mode = options.layouts;
  for (const auto& constant : options.constants) how.constants.insert(constant.name);
  how.seconds = [&prices](const graph::Node& node, const graph::OperandLayouts& layouts) {
    return prices.of_node(node, layouts);
  };
  if (options.libraries != "none") how.more = [&prices](const graph::Node& node) { return prices.of_libraries(node); };
  how.differs_by_copies = [&prices](const graph::Node& node, const graph::OperandLayouts& layouts) {
    return prices.is_named_call(node, layouts);
  };
  how.conversion_seconds = [&prices](const graph::Tensor& tensor) { return prices.of_conversion(tensor); };
  return how;
}

}  // namespace

layout::Layouts by_name(const lang::Def& def, const graph::OperandLayouts& layouts) {
  layout::Layouts result;
  for (std::size_t i = 0; i < layouts.size(); ++i)
    if (!layouts[i].is_identity())
      result.of[i < def.params.size() ? def.params[i].name : def.returns[i - def.params.size()].name] = layouts[i];
  return result;
}

std::int64_t block_of(const Target& target) {
  return std::max<std::int64_t>(target.vector_bytes() / byte_size(DType::Float32), 4);
}

bool chooses_layouts(const CompileOptions& options) {
  return constants_alone(options.layouts) ? !options.constants.empty() : options.layouts != graph::LayoutMode::Off;
}

std::optional<LaidOutPlan> choose_layouts(const graph::Graph& graph, const CompileOptions& options) {
  if (!chooses_layouts(options)) return std::nullopt;
  LayoutPrices prices(graph, options);
  return laid_out(graph, options_of(options, prices));
}

}  // namespace tc::engine
