#include "tc/graph/graph.h"

#include "tc/base/str.h"
#include "tc/graph/make_def.h"
#include "tc/lang/syntax/print.h"

namespace tc::graph {

bool reduces(const lang::InlinedDef& def) {
  const auto& statements = def.def.statements;
  return std::any_of(statements.begin(), statements.end(), [](const auto& statement) {
    return !std::get<lang::Assignment>(statement.node).reduction_iterators.empty();
  });
}

std::set<std::string> Graph::callees() const {
  std::set<std::string> names;
  for (const auto& node : nodes)
    for (const auto& statement : node.statements)
      if (const auto* call = std::get_if<lang::CallStatement>(&statement.node)) names.insert(call->def);
  return names;
}

std::string to_text(const Graph& graph) {
  std::vector<std::string> texts;
  const auto callees = graph.callees();
  for (const auto& def : graph.defs->file->defs)
    if (callees.count(def.name)) texts.push_back(lang::print(def));
  DefSketch sketch{graph.name, {}, {}, {}};
  for (auto tensor : graph.inputs)
    sketch.params.push_back(
        {graph.tensors[tensor].name, graph.tensors[tensor].spec.dtype, graph.tensors[tensor].spec.shape, {}});
  for (auto tensor : graph.outputs)
    sketch.returns.push_back({graph.tensors[tensor].name, graph.tensors[tensor].spec.dtype, {}, {}});
  for (const auto& node : graph.nodes)
    sketch.statements.insert(sketch.statements.end(), node.statements.begin(), node.statements.end());
  texts.push_back(lang::print(make_def(sketch)));
  return join(texts, "\n");
}

}  // namespace tc::graph
