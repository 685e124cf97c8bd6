#include "tc/graph/lay_out.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tc/base/cancellation.h"
#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/graph/new_defs.h"
#include "tc/layout/rewrite/apply.h"
#include "tc/layout/rewrite/propagate.h"

namespace tc::graph {
namespace {

class LayingOut {
 public:
  LayingOut(const Graph& graph, const LayoutResolution& resolution)
      : graph_(graph), resolution_(resolution), defs_(graph.defs, {graph.name}) {
    result_.graph = graph;
    result_.graph.nodes.clear();
    for (const auto& tensor : graph.tensors) names_.insert(tensor.name);
  }

  LaidOutGraph run() {
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      if (!graph_.tensors[t].producer) convert(t);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      check_cancelled("the layouts of a graph");
      add_node(graph_.nodes[n], resolution_.required[n]);
      for (const auto tensor : graph_.nodes[n].outputs) convert(tensor);
    }
    return finish();
  }

 private:
  const Layout& produced(std::size_t tensor) const { return resolution_.produced[tensor]; }

  /// The tensor of the new graph that holds \p tensor in \p layout.
  std::size_t home(std::size_t tensor, const Layout& layout, bool converted) {
    if (layout.is_identity()) return tensor;
    const auto key = std::pair(tensor, to_string(layout));
    if (const auto known = homes_.find(key); known != homes_.end()) return known->second;
    const auto& old = graph_.tensors[tensor];
    const layout::LayoutMap map(layout, old.spec.shape);
    Tensor made;
    made.name = new_name(str(old.name, "_laid"));
    made.spec = contiguous(old.spec.dtype, map.physical());
    made.mins.assign(made.spec.shape.size(), 0);
    result_.graph.tensors.push_back(std::move(made));
    result_.placed.push_back({tensor, result_.graph.tensors.size() - 1, converted, layout});
    return homes_[key] = result_.graph.tensors.size() - 1;
  }
  std::string new_name(const std::string& wanted) {
    std::string name = wanted;
    for (int number = 1; !names_.insert(name).second; ++number) name = str(wanted, "_", number);
    return name;
  }

  /// The conversions of \p tensor, each once.
  void convert(std::size_t tensor) {
    std::vector<Layout> made;
    for (const auto& conversion : resolution_.conversions) {
      if (conversion.tensor != tensor || contains(made, conversion.to)) continue;
      made.push_back(conversion.to);
      const auto& spec = graph_.tensors[tensor].spec;
      auto def = layout::conversion(spec.dtype, spec.shape, produced(tensor), conversion.to).def();
      const auto from = home(tensor, produced(tensor), false), to = home(tensor, conversion.to, true);
      add_call(defs_.add(std::move(def)), {from}, {to});
      conversions_.push_back(calls_.size() - 1);
    }
  }

  void add_node(const Node& node, const std::vector<Layout>& required) {
    std::vector<std::size_t> inputs, outputs;
    layout::Layouts layouts;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      inputs.push_back(home(node.inputs[i], required[i], true));
      if (!required[i].is_identity()) layouts.of[node.def->def.params[i].name] = required[i];
    }
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      const auto& layout = produced(node.outputs[o]);
      outputs.push_back(home(node.outputs[o], layout, false));
      if (!layout.is_identity()) layouts.of[node.def->def.returns[o].name] = layout;
    }
    if (layouts.of.empty()) {
      calls_.push_back("");
      result_.graph.nodes.push_back(node);
      return;
    }
    add_call(callee_of(node, layouts), std::move(inputs), std::move(outputs));
  }

  /// The def of \p node in \p layouts, which is made and proved once for equal nodes.
  std::string callee_of(const Node& node, const layout::Layouts& layouts) {
    TextStream key;
    key << node.def.get();
    for (const auto tensor : node.inputs) key << " " << graph_.tensors[tensor].spec;
    for (const auto& [name, layout] : layouts.of) key << "; " << name << " " << to_string(layout);
    const auto [known, is_new] = callees_.emplace(key.str(), "");
    if (!is_new) return known->second;
    const auto sizes = sizes_of(graph_, node);
    auto made = layout::apply_layouts(*node.def, sizes, layout::propagate(*node.def, sizes, layouts));
    made.file.defs.front().name += "_laid";
    return known->second = defs_.add(made.def());
  }

  /// Notes a call; it becomes a node when all defs are known.
  void add_call(const std::string& callee, std::vector<std::size_t> inputs, std::vector<std::size_t> outputs) {
    calls_.push_back(callee);
    Node node;
    node.inputs = std::move(inputs);
    node.outputs = std::move(outputs);
    result_.graph.nodes.push_back(std::move(node));
  }

  LaidOutGraph finish() {
    auto& graph = result_.graph;
    graph.defs = defs_.all();
    for (std::size_t n = 0; n < calls_.size(); ++n)
      if (!calls_[n].empty())
        graph.nodes[n] = call_node(graph, *graph.defs, calls_[n], graph.nodes[n].inputs, graph.nodes[n].outputs);
    graph = with_edges(std::move(graph));
    result_.conversions = conversions_;
    return std::move(result_);
  }

  const Graph& graph_;
  const LayoutResolution& resolution_;
  NewDefs defs_;
  LaidOutGraph result_;
  std::set<std::string> names_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> homes_;
  std::map<std::string, std::string> callees_;  ///< by nodes and their layouts
  std::vector<std::string> calls_;              ///< of each new node, its def; "": it is as it was
  std::vector<std::size_t> conversions_;
};

}  // namespace

lang::SizeMap sizes_of(const Graph& graph, const Node& node) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (const auto tensor : node.inputs) shapes.push_back(graph.tensors[tensor].spec.shape);
  return lang::bind_sizes(node.def->def, shapes);
}

LaidOutGraph lay_out(const Graph& graph, const LayoutResolution& resolution) {
  return LayingOut(graph, resolution).run();
}

}  // namespace tc::graph
