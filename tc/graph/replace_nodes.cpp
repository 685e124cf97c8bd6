#include "tc/graph/replace_nodes.h"

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/graph/bind.h"
#include "tc/graph/new_defs.h"

namespace tc::graph {
namespace {

std::set<std::string> names_of(const Graph& graph) {
  std::set<std::string> names{graph.name};
  for (const auto& tensor : graph.tensors) names.insert(tensor.name);
  return names;
}

/// A call that becomes a node when all defs are known; without a callee it is the node as it was.
struct PlannedCall {
  std::string callee;
  Node node;
};

class Replacing {
 public:
  Replacing(const Graph& graph, const std::map<std::size_t, lang::Def>& by)
      : graph_(graph), by_(by), result_(graph), taken_(names_of(graph)), statements_(graph.defs, taken_) {
    NewDefs whole(graph.defs, taken_);
    for (const auto& [node, def] : by) names_[node] = whole.add(def);
    wholes_ = whole.all();
  }

  Graph run() {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (const auto name = names_.find(n); name != names_.end())
        add_statements(graph_.nodes[n], name->second, by_.at(n).name);
      else
        calls_.push_back({"", graph_.nodes[n]});
    }
    result_.defs = statements_.all();
    result_.nodes.clear();
    for (auto& call : calls_)
      result_.nodes.push_back(
          call.callee.empty() ? std::move(call.node)
                              : call_node(result_, *result_.defs, call.callee, call.node.inputs, call.node.outputs));
    return with_edges(std::move(result_));
  }

 private:
  /// The statements of def \p name in place of \p node; their defs and tensors are called after \p wanted. A def with loops stays one
  /// node.
  void add_statements(const Node& node, const std::string& name, const std::string& wanted) {
    if (const auto& def = wholes_->call_free.at(name)->def; lang::has_loops(def)) {
      calls_.push_back({statements_.add(def), node});
      return;
    }
    std::vector<TensorSpec> inputs;
    for (const auto tensor : node.inputs) inputs.push_back(graph_.tensors[tensor].spec);
    const auto inner = graph::bind(wholes_, name, inputs);
    if (!inner) throw InternalError(str("the def '", name, "' in place of a node is no graph"));
    const auto places = places_of(*inner, node, wanted);
    for (const auto& part : inner->nodes) {
      auto def = part.def->def;
      def.name = wanted;
      Node moved;
      for (const auto tensor : part.inputs) moved.inputs.push_back(places[tensor]);
      for (const auto tensor : part.outputs) moved.outputs.push_back(places[tensor]);
      calls_.push_back({statements_.add(std::move(def)), std::move(moved)});
    }
  }

  /// The tensor of the result for each of \p inner: an operand of \p node, or a new one.
  std::vector<std::size_t> places_of(const Graph& inner, const Node& node, const std::string& wanted) {
    std::vector<std::size_t> places(inner.tensors.size());
    for (std::size_t i = 0; i < inner.inputs.size(); ++i) places[inner.inputs[i]] = node.inputs.at(i);
    for (std::size_t o = 0; o < inner.outputs.size(); ++o) {
      const auto tensor = places[inner.outputs[o]] = node.outputs.at(o);
      if (inner.tensors[inner.outputs[o]].spec.shape != graph_.tensors[tensor].spec.shape)
        throw InternalError(str("'", graph_.tensors[tensor].name, "' has another shape where it is derived"));
    }
    for (std::size_t t = 0; t < inner.tensors.size(); ++t) {
      if (inner.tensors[t].role != lang::Role::Temporary) continue;
      places[t] = result_.tensors.size();
      result_.tensors.push_back(inner.tensors[t]);
      result_.tensors.back().name = new_name(str(wanted, "_", inner.tensors[t].name));
      result_.tensors.back().mins.assign(inner.tensors[t].spec.shape.size(), 0);
    }
    return places;
  }
  std::string new_name(const std::string& wanted) {
    std::string name = wanted;
    for (int number = 1; !taken_.insert(name).second; ++number) name = str(wanted, "_", number);
    return name;
  }

  const Graph& graph_;
  const std::map<std::size_t, lang::Def>& by_;
  Graph result_;
  std::set<std::string> taken_;
  NewDefs statements_;
  std::shared_ptr<const Defs> wholes_;
  std::map<std::size_t, std::string> names_;
  std::vector<PlannedCall> calls_;
};

}  // namespace

Graph replace_nodes(const Graph& graph, const std::map<std::size_t, lang::Def>& by) {
  return Replacing(graph, by).run();
}

}  // namespace tc::graph
