#include "tc/graph/resolve_layouts.h"

#include <algorithm>
#include <limits>
#include <map>

#include "tc/base/contains.h"
#include "tc/graph/minimise.h"

namespace tc::graph {
namespace {

/// For each tensor, the nodes that read it, in order, each once.
std::vector<std::vector<std::size_t>> consumers_of(const LayoutGraph& graph) {
  std::vector<std::vector<std::size_t>> consumers(graph.tensors.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    for (const auto tensor : graph.nodes[n].inputs)
      if (!contains(consumers[tensor], n)) consumers[tensor].push_back(n);
  return consumers;
}

/// \p graph with the layouts that \p chosen gives to nodes with candidates, and conversions one an input.
LayoutResolution resolve(const LayoutGraph& graph, const std::map<std::size_t, Layout>& chosen) {
  LayoutResolution result;
  for (const auto& tensor : graph.tensors) result.produced.push_back(tensor.given);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto& node = graph.nodes[n];
    const auto choice = chosen.find(n);
    std::vector<Layout> required;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto& produced = result.produced[node.inputs[i]];
      required.push_back(choice != chosen.end() ? choice->second : node.required[i].value_or(produced));
      if (required.back() != produced) result.conversions.push_back({node.inputs[i], required.back(), {n}});
    }
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      const Layout first = required.empty() ? Layout() : required.front();
      result.produced[node.outputs[o]] =
          choice != chosen.end() ? choice->second : node.required[node.inputs.size() + o].value_or(first);
    }
    result.required.push_back(std::move(required));
  }
  return result;
}

/// The choice of layouts as a sum of tables. A node with candidates is a variable; so is each node whose layouts follow those
/// of its first input.
class LayoutProblem {
 public:
  LayoutProblem(const LayoutGraph& graph, LayoutObjective objective) : graph_(graph), objective_(objective) {
    for (const auto& node : graph.nodes)
      for (const auto& layout : node.candidates) number_of(layout);
    for (const auto& node : graph.nodes)
      for (const auto& layout : node.required)
        if (layout) number_of(*layout);
    for (const auto& tensor : graph.tensors) number_of(tensor.given);
    make_variables();
    const auto consumers = consumers_of(graph);
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) add_tensor(t, consumers[t]);
  }

  std::map<std::size_t, Layout> solve() const {
    const Choice choice = minimise(problem_);
    std::map<std::size_t, Layout> result;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (!graph_.nodes[n].candidates.empty())
        result[n] = layouts_[domains_[variable_of_[n]][choice.values[variable_of_[n]]]];
    return result;
  }

 private:
  using Numbers = std::vector<std::size_t>;
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  std::size_t number_of(const Layout& layout) {
    const auto found = std::find(layouts_.begin(), layouts_.end(), layout);
    if (found != layouts_.end()) return found - layouts_.begin();
    layouts_.push_back(layout);
    return layouts_.size() - 1;
  }
  std::size_t make_variable(const Numbers& domain) {
    domains_.push_back(domain);
    problem_.values.push_back(domain.size());
    return domains_.size() - 1;
  }

  /// The layouts that a node with candidates chooses from; for others, those that its "any" may mean.
  void make_variables() {
    produced_by_.resize(graph_.tensors.size());
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      if (!graph_.tensors[t].producer) produced_by_[t] = make_variable({number_of(graph_.tensors[t].given)});
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const auto& node = graph_.nodes[n];
      variable_of_.push_back(none);
      if (!node.candidates.empty()) {
        Numbers domain;
        for (const auto& layout : node.candidates) domain.push_back(number_of(layout));
        variable_of_[n] = make_variable(domain);
      }
      for (std::size_t o = 0; o < node.outputs.size(); ++o) produced_by_[node.outputs[o]] = output_variable(n, o);
    }
  }
  /// The variable whose value is the layout of an output: that of the node, of a fixed layout, or of its first input.
  std::size_t output_variable(std::size_t n, std::size_t o) {
    const auto& node = graph_.nodes[n];
    if (variable_of_[n] != none) return variable_of_[n];
    if (const auto& fixed = node.required[node.inputs.size() + o]) return make_variable({number_of(*fixed)});
    if (node.inputs.empty()) return make_variable({number_of(Layout())});
    if (node.required[0]) return make_variable({number_of(*node.required[0])});
    return produced_by_[node.inputs[0]];
  }

  /// What the consumers of \p tensor ask of it.
  void add_tensor(std::size_t tensor, const Numbers& consumers) {
    const double weight = graph_.tensors[tensor].weight;
    std::map<std::size_t, std::size_t> copies;  // layout -> the variable that says whether there is a conversion to it
    for (const auto n : consumers) {
      const auto& node = graph_.nodes[n];
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i] != tensor) continue;
        if (variable_of_[n] == none && !node.required[i]) continue;
        const auto asked = variable_of_[n] != none ? variable_of_[n] : make_variable({number_of(*node.required[i])});
        if (objective_ == LayoutObjective::Edges) {
          add_edge(produced_by_[tensor], asked, weight);
        } else {
          for (const auto layout : domains_[asked]) add_shared(produced_by_[tensor], asked, layout, weight, copies);
        }
      }
    }
  }
  /// \p weight where the two layouts differ.
  void add_edge(std::size_t producer, std::size_t consumer, double weight) {
    if (producer == consumer) return;
    CostTable table{{producer, consumer}, {}};
    for (const auto a : domains_[producer])
      for (const auto b : domains_[consumer]) table.cost.push_back(a == b ? 0 : weight);
    problem_.tables.push_back(std::move(table));
  }
  /// A conversion to \p layout costs \p weight, and must be there where the consumer asks for it and it is not produced.
  void add_shared(std::size_t producer, std::size_t consumer, std::size_t layout, double weight,
                  std::map<std::size_t, std::size_t>& copies) {
    if (producer == consumer) return;
    auto [copy, added] = copies.emplace(layout, none);
    if (added) {
      copy->second = make_variable({0, 1});
      problem_.tables.push_back({{copy->second}, {0, weight}});
    }
    CostTable table{{producer, consumer, copy->second}, {}};
    for (const auto a : domains_[producer])
      for (const auto b : domains_[consumer]) {
        const bool needed = b == layout && a != layout;
        table.cost.push_back(needed ? std::numeric_limits<double>::infinity() : 0);
        table.cost.push_back(0);
      }
    problem_.tables.push_back(std::move(table));
  }

  const LayoutGraph& graph_;
  LayoutObjective objective_;
  std::vector<Layout> layouts_;
  std::vector<Numbers> domains_;  ///< of each variable: numbers of layouts
  Numbers variable_of_;           ///< of each node with candidates
  Numbers produced_by_;           ///< for each tensor, the variable of its layout
  ChoiceProblem problem_;
};

}  // namespace

double LayoutResolution::cost(const LayoutGraph& graph) const {
  double sum = 0;
  for (const auto& conversion : conversions) sum += graph.tensors[conversion.tensor].weight;
  return sum;
}

LayoutResolution resolve_layouts(const LayoutGraph& graph) { return resolve(graph, {}); }

LayoutResolution hoist_conversions(const LayoutGraph& graph, LayoutResolution resolution, Hoisting hoisting) {
  const auto consumers = consumers_of(graph);
  std::vector<LayoutConversion> merged;
  for (const auto& conversion : resolution.conversions) {
    std::size_t same = 0;
    for (const auto& other : resolution.conversions)
      if (other.tensor == conversion.tensor && other.to == conversion.to) same += other.consumers.size();
    const bool all = same >= consumers[conversion.tensor].size();
    const auto known = std::find_if(merged.begin(), merged.end(), [&](const LayoutConversion& other) {
      return other.tensor == conversion.tensor && other.to == conversion.to;
    });
    if (known == merged.end() || (hoisting == Hoisting::AllConsumers && !all)) {
      merged.push_back(conversion);
    } else {
      known->consumers.insert(known->consumers.end(), conversion.consumers.begin(), conversion.consumers.end());
    }
  }
  resolution.conversions = std::move(merged);
  return resolution;
}

LayoutResolution choose_layouts(const LayoutGraph& graph, LayoutObjective objective) {
  LayoutResolution result = resolve(graph, LayoutProblem(graph, objective).solve());
  if (objective == LayoutObjective::Shared) result = hoist_conversions(graph, std::move(result), Hoisting::Common);
  return result;
}

}  // namespace tc::graph
