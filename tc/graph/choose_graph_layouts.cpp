#include "tc/graph/choose_graph_layouts.h"

#include <algorithm>
#include <map>

#include "tc/base/cancellation.h"
#include "tc/base/contains.h"
#include "tc/graph/constant_nodes.h"
#include "tc/graph/lay_out.h"
#include "tc/layout/map/layout_map.h"

namespace tc::graph {
namespace {

bool is_plain(const OperandLayouts& layouts) {
  return std::all_of(layouts.begin(), layouts.end(), [](const Layout& layout) { return layout.is_identity(); });
}

class GraphLayoutChoice {
 public:
  GraphLayoutChoice(const Graph& graph, const GraphLayoutOptions& options) : graph_(graph), options_(options) {
    fixed_ = constant_nodes(graph, options.constants);
    constants_ = held_tensors(graph, options.constants, fixed_);
  }

  GraphLayouts run() {
    for (const auto& tensor : graph_.tensors) result_.problem.tensors.push_back({tensor.name, 0, tensor.producer});
    for (const auto& node : graph_.nodes)
      result_.problem.nodes.push_back({node.callee, node.inputs, node.outputs, plain_operands(node)});
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (reduces(graph_.nodes[n]) && has_choice(n)) add_priced(n);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (!options_.constants_alone && !reduces(graph_.nodes[n]) && has_choice(n)) add_unpriced(n);
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) result_.problem.tensors[t].weight = conversion_seconds(t);
    for (const auto tensor : graph_.outputs)
      result_.problem.nodes.push_back({"return", {tensor}, {}, {std::optional(Layout())}});
    result_.resolution = chosen();
    result_.seconds = seconds_as_chosen();
    return std::move(result_);
  }

 private:
  bool has_choice(std::size_t n) const { return !fixed_.count(n) && !lang::has_loops(graph_.nodes[n].def->def); }
  LayoutResolution chosen() const {
    if (options_.mode == LayoutMode::Forward) return resolve_forward(result_.problem);
    if (options_.mode == LayoutMode::Backward) return resolve_backward(result_.problem);
    return choose_layouts(result_.problem, LayoutObjective::Shared);
  }

  double seconds_as_chosen() const {
    double sum = 0;
    for (const auto& conversion : result_.resolution.conversions)
      sum += result_.problem.tensors[conversion.tensor].weight;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const auto& alternatives = result_.problem.nodes[n].alternatives;
      if (alternatives.empty()) continue;
      const auto choice = result_.resolution.choices[n].value();
      const auto priced = seconds_.find(n);
      sum += priced == seconds_.end() ? alternatives[choice].cost : priced->second[choice];
    }
    return sum;
  }

  static std::vector<std::optional<Layout>> plain_operands(const Node& node) {
    return std::vector<std::optional<Layout>>(node.inputs.size() + node.outputs.size(), Layout());
  }

  std::vector<OperandLayouts> alternatives_of(const Node& node) const {
    AlternativeOptions how{options_.block, {}, options_.mode != LayoutMode::Resolve, options_.constants_alone};
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (constants_.count(node.inputs[i])) how.constants.insert(i);
    const auto more = options_.more && !options_.constants_alone ? options_.more(node) : std::vector<OperandLayouts>();
    std::vector<OperandLayouts> result{OperandLayouts(node.inputs.size() + node.outputs.size())};
    if (more.empty() || !is_without_doubt(node, result.front()))
      result = layout_alternatives(*node.def, sizes_of(graph_, node), how);
    for (const auto& layouts : more)
      if (!contains(result, layouts)) result.push_back(layouts);
    return with_plain_memory(node, result);
  }

  /// \p alternatives of \p node, where layouts that are the memory of the plain one are that: no conversion stands between them.
  std::vector<OperandLayouts> with_plain_memory(const Node& node,
                                                const std::vector<OperandLayouts>& alternatives) const {
    std::vector<OperandLayouts> result;
    for (auto layouts : alternatives) {
      for (std::size_t i = 0; i < layouts.size(); ++i) {
        const auto tensor = i < node.inputs.size() ? node.inputs[i] : node.outputs[i - node.inputs.size()];
        const auto& extents = graph_.tensors[tensor].spec.shape;
        if (layout::LayoutMap(layouts[i], extents).is_same_memory({Layout(), extents})) layouts[i] = Layout();
      }
      if (!contains(result, layouts)) result.push_back(std::move(layouts));
    }
    return result;
  }

  bool is_without_doubt(const Node& node, const OperandLayouts& layouts) const {
    return options_.differs_by_copies && options_.differs_by_copies(node, layouts);
  }

  /// How many times as cheap \p node must be in \p layouts to take them.
  double least_gain(const Node& node, const OperandLayouts& layouts) const {
    if (is_plain(layouts) || is_without_doubt(node, layouts)) return 1;
    for (std::size_t i = 0; i < layouts.size(); ++i)
      if (!layouts[i].is_identity() && (i >= node.inputs.size() || !constants_.count(node.inputs[i]))) return 1;
    return options_.least_constant_gain;
  }

  /// The alternatives of a node that are possible, with their prices. One that is not the cheapest by itself stays, as
  /// neighbours may like it.
  void add_priced(std::size_t n) {
    const auto& node = graph_.nodes[n];
    std::vector<LayoutAlternative> found;
    auto alternatives = alternatives_of(node);
    if (alternatives.size() < 2) return;
    for (auto& layouts : alternatives) {
      check_cancelled("the layouts of a graph");
      const auto seconds = options_.seconds(node, layouts);
      if (!seconds && is_plain(layouts) && !options_.more) return;  // the first one
      if (!seconds) continue;
      seconds_[n].push_back(*seconds);
      const double doubt = least_gain(node, layouts);
      found.push_back({std::move(layouts), doubt * *seconds});
    }
    if (found.empty()) return;
    result_.plain_seconds += is_plain(found.front().layouts) ? found.front().cost : 0;
    for (const auto& alternative : found)
      for (const auto& layout : alternative.layouts)
        if (!contains(wanted_, layout)) wanted_.push_back(layout);
    result_.problem.nodes[n].alternatives = std::move(found);
  }

  /// A node that does not reduce takes its tensors in any layout that nodes that do want. Where it reads one layout and writes
  /// another it converts, which costs what a conversion does.
  void add_unpriced(std::size_t n) {
    const auto& node = graph_.nodes[n];
    std::vector<LayoutAlternative> found;
    for (auto& layouts : alternatives_of(node)) {
      if (!is_plain(layouts) && !contains(wanted_, layouts.back())) continue;
      if (options_.mode == LayoutMode::Adjacent && passes_on(layouts)) continue;
      double cost = 0;
      for (std::size_t i = 0; i < node.inputs.size(); ++i)
        if (layouts[i] != layouts.back() && has_dims_of_result(node, i)) cost += conversion_seconds(node.inputs[i]);
      found.push_back({std::move(layouts), cost});
    }
    if (found.size() > 1) result_.problem.nodes[n].alternatives = std::move(found);
  }

  /// Is the result in a layout, and an input, too?
  static bool passes_on(const OperandLayouts& layouts) {
    return !layouts.back().is_identity() &&
           std::any_of(layouts.begin(), layouts.end() - 1, [](const Layout& layout) { return !layout.is_identity(); });
  }

  bool has_dims_of_result(const Node& node, std::size_t input) const {
    return graph_.tensors[node.inputs[input]].spec.shape.size() ==
           graph_.tensors[node.outputs.front()].spec.shape.size();
  }

  /// What a conversion of \p tensor costs in each run.
  double conversion_seconds(std::size_t tensor) {
    const auto& spec = graph_.tensors[tensor].spec;
    if (constants_.count(tensor) || spec.shape.size() < 2) return 0;
    const auto [known, is_new] = weights_.emplace(std::pair(spec.shape, spec.dtype), 0.0);
    if (is_new) known->second = options_.conversion_seconds(graph_.tensors[tensor]);
    return known->second;
  }

  const Graph& graph_;
  const GraphLayoutOptions& options_;
  std::set<std::size_t> constants_;  ///< tensors that constants decide
  std::set<std::size_t> fixed_;      ///< nodes that constants decide
  std::vector<Layout> wanted_;
  std::map<std::size_t, std::vector<double>> seconds_;  ///< of the alternatives of nodes that have prices
  std::map<std::pair<std::vector<std::int64_t>, DType>, double> weights_;
  GraphLayouts result_;
};

}  // namespace

GraphLayouts choose_graph_layouts(const Graph& graph, const GraphLayoutOptions& options) {
  return GraphLayoutChoice(graph, options).run();
}

}  // namespace tc::graph
