#include "tc/graph/resolve/resolve_layouts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "tc/base/contains.h"

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

using Numbers = std::vector<std::size_t>;
using Choices = std::vector<std::optional<std::size_t>>;

/// \p graph with the choices of \p choices, and conversions one an input.
LayoutResolution resolve(const LayoutGraph& graph, const Choices& choices) {
  LayoutResolution result;
  result.choices = choices;
  for (const auto& tensor : graph.tensors) result.produced.push_back(tensor.given);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto& node = graph.nodes[n];
    const auto choice = choices[n];
    std::vector<Layout> required;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto& produced = result.produced[node.inputs[i]];
      required.push_back(choice ? node.chosen(*choice, i) : node.required[i].value_or(produced));
      if (required.back() != produced) result.conversions.push_back({node.inputs[i], required.back(), {n}});
    }
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      const auto operand = node.inputs.size() + o;
      const Layout first = required.empty() ? Layout() : required.front();
      result.produced[node.outputs[o]] =
          choice ? node.chosen(*choice, operand) : node.required[operand].value_or(first);
    }
    result.required.push_back(std::move(required));
  }
  return result;
}

/// The choice of \p node of least \p cost, the first of several.
template <typename Cost>
std::size_t cheapest(const LayoutNode& node, const Cost& cost) {
  const auto count = node.alternatives.empty() ? node.candidates.size() : node.alternatives.size();
  std::size_t best = 0;
  for (std::size_t c = 1; c < count; ++c)
    if (cost(c) < cost(best)) best = c;
  return best;
}

/// Chooses for nodes in order, each by what is there already.
class GreedyChoice {
 public:
  explicit GreedyChoice(const LayoutGraph& graph) : graph_(graph) {
    for (const auto& tensor : graph.tensors) produced_.push_back(tensor.given);
  }

  Choices run() {
    Choices result;
    for (const auto& node : graph_.nodes) {
      result.push_back(node.has_choice() ? std::optional(cheapest(node, [&](std::size_t c) { return cost(node, c); }))
                                         : std::nullopt);
      place(node, result.back());
    }
    return result;
  }

 private:
  double cost(const LayoutNode& node, std::size_t choice) const {
    double sum = node.alternatives.empty() ? 0 : node.alternatives[choice].cost;
    std::set<std::size_t> counted;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto tensor = node.inputs[i];
      const bool there = is_there(tensor, node.chosen(choice, i)) || !counted.insert(tensor).second;
      if (!there) sum += graph_.tensors[tensor].weight;
    }
    return sum;
  }
  bool is_there(std::size_t tensor, const Layout& layout) const {
    const auto made = copies_.find(tensor);
    return produced_[tensor] == layout || (made != copies_.end() && contains(made->second, layout));
  }
  void place(const LayoutNode& node, std::optional<std::size_t> choice) {
    Layout first;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto tensor = node.inputs[i];
      const Layout layout = choice ? node.chosen(*choice, i) : node.required[i].value_or(produced_[tensor]);
      if (i == 0) first = layout;
      if (!is_there(tensor, layout)) copies_[tensor].push_back(layout);
    }
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      const auto operand = node.inputs.size() + o;
      produced_[node.outputs[o]] = choice ? node.chosen(*choice, operand) : node.required[operand].value_or(first);
    }
  }

  const LayoutGraph& graph_;
  std::vector<Layout> produced_;
  std::map<std::size_t, std::vector<Layout>> copies_;  ///< of tensors, that were made
};

/// Chooses for nodes in reverse order, each by what those behind it read.
class BackwardChoice {
 public:
  explicit BackwardChoice(const LayoutGraph& graph) : graph_(graph), read_(graph.tensors.size()) {}

  Choices run() {
    Choices result(graph_.nodes.size());
    for (std::size_t n = graph_.nodes.size(); n-- > 0;) {
      const auto& node = graph_.nodes[n];
      if (node.has_choice()) result[n] = cheapest(node, [&](std::size_t c) { return cost(node, c); });
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const auto layout = result[n] ? std::optional(node.chosen(*result[n], i)) : node.required[i];
        if (layout) read_[node.inputs[i]].push_back(*layout);
      }
    }
    return result;
  }

 private:
  double cost(const LayoutNode& node, std::size_t choice) const {
    double sum = node.alternatives.empty() ? 0 : node.alternatives[choice].cost;
    for (std::size_t o = 0; o < node.outputs.size(); ++o)
      for (const auto& layout : read_[node.outputs[o]])
        if (layout != node.chosen(choice, node.inputs.size() + o)) sum += graph_.tensors[node.outputs[o]].weight;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto& tensor = graph_.tensors[node.inputs[i]];
      if (!tensor.producer && tensor.given != node.chosen(choice, i)) sum += tensor.weight;
    }
    return sum;
  }

  const LayoutGraph& graph_;
  std::vector<std::vector<Layout>> read_;  ///< the layouts that nodes behind read tensors in
};

/// \p graph, where a conversion costs more than all nodes.
LayoutGraph with_dear_conversions(LayoutGraph graph) {
  double all = 1;
  for (const auto& node : graph.nodes) {
    double most = 0;
    for (const auto& alternative : node.alternatives) most = std::max(most, alternative.cost);
    all += most;
  }
  for (auto& tensor : graph.tensors)
    if (tensor.weight > 0) tensor.weight = all;
  return graph;
}

/// The layout of an operand as a function of a choice: that of value v of `variable` is number `layouts`[v].
struct ChosenLayout {
  std::size_t variable = 0;
  Numbers layouts;
};

/// The choice of layouts as a sum of tables. A node that has choices is a variable; so is each node whose layouts follow those
/// of its first input.
class LayoutProblem {
 public:
  LayoutProblem(const LayoutGraph& graph, LayoutObjective objective) : graph_(graph), objective_(objective) {
    make_variables();
    const auto consumers = consumers_of(graph);
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) add_tensor(t, consumers[t]);
  }

  Choice solve(const SearchLimits& limits) const { return minimise_within(problem_, limits); }
  /// What \p choice says of nodes.
  Choices of_nodes(const Choice& choice) const {
    Choices result(graph_.nodes.size());
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (graph_.nodes[n].has_choice()) result[n] = choice.values[variable_of_[n]];
    return result;
  }

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  std::size_t number_of(const Layout& layout) {
    const auto found = std::find(layouts_.begin(), layouts_.end(), layout);
    if (found != layouts_.end()) return found - layouts_.begin();
    layouts_.push_back(layout);
    return layouts_.size() - 1;
  }
  std::size_t make_variable(std::size_t values) {
    problem_.values.push_back(values);
    return problem_.values.size() - 1;
  }
  ChosenLayout fixed(const Layout& layout) { return {make_variable(1), {number_of(layout)}}; }
  /// The layout of operand \p operand of node \p n, which has choices.
  ChosenLayout chosen(std::size_t n, std::size_t operand) {
    ChosenLayout result{variable_of_[n], {}};
    for (std::size_t c = 0; c < problem_.values[variable_of_[n]]; ++c)
      result.layouts.push_back(number_of(graph_.nodes[n].chosen(c, operand)));
    return result;
  }

  void make_variables() {
    produced_by_.resize(graph_.tensors.size());
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      if (!graph_.tensors[t].producer) produced_by_[t] = fixed(graph_.tensors[t].given);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const auto& node = graph_.nodes[n];
      variable_of_.push_back(none);
      if (node.has_choice())
        variable_of_[n] = make_variable(node.alternatives.empty() ? node.candidates.size() : node.alternatives.size());
      if (!node.alternatives.empty()) {
        CostTable costs{{variable_of_[n]}, {}};
        for (const auto& alternative : node.alternatives) costs.cost.push_back(alternative.cost);
        problem_.tables.push_back(std::move(costs));
      }
      for (std::size_t o = 0; o < node.outputs.size(); ++o) produced_by_[node.outputs[o]] = output_layout(n, o);
    }
  }
  /// The layout of an output: that of a choice, a fixed one, or that of the first input.
  ChosenLayout output_layout(std::size_t n, std::size_t o) {
    const auto& node = graph_.nodes[n];
    if (variable_of_[n] != none) return chosen(n, node.inputs.size() + o);
    if (const auto& layout = node.required[node.inputs.size() + o]) return fixed(*layout);
    if (node.inputs.empty()) return fixed(Layout());
    if (node.required[0]) return fixed(*node.required[0]);
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
        const auto asked = variable_of_[n] != none ? chosen(n, i) : fixed(*node.required[i]);
        if (objective_ == LayoutObjective::Edges) {
          add_edge(produced_by_[tensor], asked, weight);
        } else {
          const std::set<std::size_t> different(asked.layouts.begin(), asked.layouts.end());
          for (const auto layout : different) add_shared(produced_by_[tensor], asked, layout, weight, copies);
        }
      }
    }
  }
  /// \p weight where the two layouts differ.
  void add_edge(const ChosenLayout& producer, const ChosenLayout& consumer, double weight) {
    if (producer.variable == consumer.variable) return;
    CostTable table{{producer.variable, consumer.variable}, {}};
    for (const auto a : producer.layouts)
      for (const auto b : consumer.layouts) table.cost.push_back(a == b ? 0 : weight);
    problem_.tables.push_back(std::move(table));
  }
  /// A conversion to \p layout costs \p weight, and must be there where the consumer asks for it and it is not produced.
  void add_shared(const ChosenLayout& producer, const ChosenLayout& consumer, std::size_t layout, double weight,
                  std::map<std::size_t, std::size_t>& copies) {
    if (producer.variable == consumer.variable) return;
    auto [copy, added] = copies.emplace(layout, none);
    if (added) {
      copy->second = make_variable(2);
      problem_.tables.push_back({{copy->second}, {0, weight}});
    }
    CostTable table{{producer.variable, consumer.variable, copy->second}, {}};
    for (const auto a : producer.layouts)
      for (const auto b : consumer.layouts) {
        const bool needed = b == layout && a != layout;
        table.cost.push_back(needed ? std::numeric_limits<double>::infinity() : 0);
        table.cost.push_back(0);
      }
    problem_.tables.push_back(std::move(table));
  }

  const LayoutGraph& graph_;
  LayoutObjective objective_;
  std::vector<Layout> layouts_;
  Numbers variable_of_;                    ///< of each node with choices
  std::vector<ChosenLayout> produced_by_;  ///< of each tensor
  ChoiceProblem problem_;
};

}  // namespace

double LayoutResolution::cost(const LayoutGraph& graph) const {
  double sum = 0;
  for (const auto& conversion : conversions) sum += graph.tensors[conversion.tensor].weight;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (const auto& alternatives = graph.nodes[n].alternatives; !alternatives.empty())
      sum += alternatives[choices[n].value()].cost;
  return sum;
}

LayoutResolution resolve_layouts(const LayoutGraph& graph) {
  Choices first(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (!graph.nodes[n].alternatives.empty()) first[n] = 0;
  return resolve(graph, first);
}

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

LayoutResolution choose_layouts(const LayoutGraph& graph, LayoutObjective objective, const SearchLimits& limits) {
  const LayoutProblem problem(graph, objective);
  const auto choice = problem.solve(limits);
  LayoutResolution result = resolve(graph, problem.of_nodes(choice));
  if (choice.bound < choice.cost) result.bound = choice.bound;
  if (objective == LayoutObjective::Shared) result = hoist_conversions(graph, std::move(result), Hoisting::Common);
  return result;
}

LayoutResolution resolve_greedily(const LayoutGraph& graph) {
  return hoist_conversions(graph, resolve(graph, GreedyChoice(graph).run()), Hoisting::Common);
}

LayoutResolution resolve_forward(const LayoutGraph& graph) {
  const auto dear = with_dear_conversions(graph);
  return hoist_conversions(graph, resolve(graph, GreedyChoice(dear).run()), Hoisting::Common);
}

LayoutResolution resolve_backward(const LayoutGraph& graph) {
  const auto dear = with_dear_conversions(graph);
  return hoist_conversions(graph, resolve(graph, BackwardChoice(dear).run()), Hoisting::Common);
}

}  // namespace tc::graph
