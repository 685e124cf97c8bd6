#include "tc/graph/drop_copies.h"

#include <algorithm>

#include "tc/graph/new_defs.h"
#include "tc/lang/syntax/substitute.h"

namespace tc::graph {
namespace {

/// Is the statement of \p def O(i,j) = X(i,j), and nothing else?
bool is_copy(const lang::Def& def) {
  if (def.statements.size() != 1 || def.params.size() != 1 || def.returns.size() != 1) return false;
  const auto& statement = std::get<lang::Assignment>(def.statements[0].node);
  const auto* access = std::get_if<lang::Access>(&statement.rhs->node);
  if (!access || statement.reduction || !statement.clauses.empty()) return false;
  return access->tensor == def.params[0].name && access->subscripts.size() == statement.subscripts.size() &&
         std::equal(access->subscripts.begin(), access->subscripts.end(), statement.subscripts.begin(),
                    [](const auto& a, const auto& b) { return lang::equal(a, b); });
}

bool begins_at_zero(const Tensor& tensor) {
  return std::all_of(tensor.mins.begin(), tensor.mins.end(), [](auto min) { return min == 0; });
}

bool may_go(const Graph& graph, const Node& node) {
  if (node.inputs.size() != 1 || node.outputs.size() != 1 || !is_copy(node.def->def)) return false;
  const auto &from = graph.tensors[node.inputs[0]], &to = graph.tensors[node.outputs[0]];
  return to.role == lang::Role::Temporary && from.spec.dtype == to.spec.dtype && from.spec.shape == to.spec.shape &&
         begins_at_zero(from) && begins_at_zero(to);
}

/// \p statement with \p from in place of \p to.
lang::Statement reading(lang::Statement statement, const std::string& from, const std::string& to) {
  if (auto* call = std::get_if<lang::CallStatement>(&statement.node)) {
    std::replace(call->arguments.begin(), call->arguments.end(), to, from);
    return statement;
  }
  lang::Substitution names;
  names.tensors[to] = from;
  names.values[to] = lang::make_expr(lang::Name{from});
  auto& assignment = std::get<lang::Assignment>(statement.node);
  assignment = lang::substitute(assignment, names);
  return statement;
}

/// Lets the readers of the copy that \p node makes read what it copies.
void redirect(Graph& graph, const Node& node) {
  const auto from = node.inputs[0], to = node.outputs[0];
  for (auto reader : graph.tensors[to].consumers) {
    auto& other = graph.nodes[reader];
    std::replace(other.inputs.begin(), other.inputs.end(), to, from);
    for (auto& statement : other.statements)
      statement = reading(std::move(statement), graph.tensors[from].name, graph.tensors[to].name);
    graph.tensors[from].consumers.push_back(reader);
  }
  graph.tensors[to].consumers.clear();
}

}  // namespace

Graph drop_copies(Graph graph) {
  std::vector<Node> kept;
  std::vector<char> goes(graph.nodes.size(), 0);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if ((goes[n] = may_go(graph, graph.nodes[n]))) redirect(graph, Node(graph.nodes[n]));
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (!goes[n]) kept.push_back(std::move(graph.nodes[n]));
  graph.nodes = std::move(kept);
  return with_edges(std::move(graph));
}

}  // namespace tc::graph
