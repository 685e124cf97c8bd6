#include "tc/graph/new_defs.h"

#include "tc/base/str.h"
#include "tc/graph/make_def.h"
#include "tc/lang/check/check.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"

namespace tc::graph {
NewDefs::NewDefs(std::shared_ptr<const Defs> known, std::set<std::string> taken)
    : known_(std::move(known)), taken_(std::move(taken)) {
  for (const auto& def : known_->file->defs) defs_.insert(def.name);
  taken_.insert(defs_.begin(), defs_.end());
}

std::string NewDefs::add(lang::Def def) {
  const std::string wanted = def.name;
  def = with_names_apart(std::move(def), defs_);
  def.name = "made";
  const auto [entry, is_new] = names_.emplace(str(wanted, " ", lang::print(def)), wanted);
  if (!is_new) return entry->second;
  taken_.merge(identifiers(def));
  for (int number = 1; !taken_.insert(entry->second).second; ++number) entry->second = str(wanted, "_", number);
  defs_.insert(entry->second);
  def.name = entry->second;
  texts_.push_back(lang::print(def));
  return entry->second;
}

std::shared_ptr<const Defs> NewDefs::all() const {
  if (texts_.empty()) return known_;
  auto file = std::make_shared<lang::File>(*known_->file);
  file->text = str(known_->file->text, "\n", join(texts_, "\n"));
  const auto parsed = lang::parse(file->text, file->name);
  auto result = std::make_shared<Defs>(*known_);
  result->file = file;
  for (std::size_t d = parsed.defs.size() - texts_.size(); d < parsed.defs.size(); ++d) {
    file->add(lang::check(parsed.defs[d], *file));
    result->call_free[parsed.defs[d].name] = understood(parsed.defs[d], *result);
  }
  return result;
}

Node call_node(const Graph& graph, const Defs& defs, const std::string& callee, std::vector<std::size_t> inputs,
               std::vector<std::size_t> outputs) {
  lang::CallStatement call;
  call.def = callee;
  for (const auto tensor : outputs) call.results.push_back(graph.tensors[tensor].name);
  for (const auto tensor : inputs) call.arguments.push_back(graph.tensors[tensor].name);
  Node node;
  node.statements.push_back({call, {}});
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.def = defs.call_free.at(callee);
  node.callee = callee;
  return node;
}

Graph graph_of_call(const std::shared_ptr<const Defs>& defs, const std::string& name,
                    const std::vector<TensorSpec>& inputs) {
  const auto& [def, ranges] = *defs->call_free.at(name);
  Graph graph;
  graph.name = name;
  graph.defs = defs;
  std::vector<std::vector<std::int64_t>> shapes;
  for (const auto& input : inputs) shapes.push_back(input.shape);
  const auto sizes = lang::bind_sizes(def, shapes);
  const auto add = [&](const std::string& tensor, TensorSpec spec, lang::Role role) {
    Tensor made{tensor, std::move(spec), {}, role, {}, {}};
    made.mins.assign(made.spec.shape.size(), 0);
    graph.tensors.push_back(std::move(made));
    return graph.tensors.size() - 1;
  };
  for (std::size_t i = 0; i < inputs.size(); ++i)
    graph.inputs.push_back(add(def.params[i].name, inputs[i], lang::Role::Input));
  for (const auto& ret : def.returns) {
    std::vector<std::int64_t> shape;
    for (const auto& range : lang::evaluate_box(ranges.tensors.at(ret.name), sizes)) shape.push_back(range.extent);
    graph.outputs.push_back(add(ret.name, contiguous(def.tensors.at(ret.name).type, shape), lang::Role::Output));
  }
  graph.nodes.push_back(call_node(graph, *defs, name, graph.inputs, graph.outputs));
  return with_edges(std::move(graph));
}

Graph with_edges(Graph graph) {
  for (auto& tensor : graph.tensors) {
    tensor.producer.reset();
    tensor.consumers.clear();
  }
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const auto tensor : graph.nodes[n].inputs)
      if (auto& readers = graph.tensors[tensor].consumers; readers.empty() || readers.back() != n) readers.push_back(n);
    for (const auto tensor : graph.nodes[n].outputs) graph.tensors[tensor].producer = n;
  }
  return graph;
}

}  // namespace tc::graph
