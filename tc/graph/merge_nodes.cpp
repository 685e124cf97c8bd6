#include "tc/graph/merge_nodes.h"

#include <algorithm>
#include <set>

#include "tc/base/error.h"
#include "tc/graph/new_defs.h"
#include "tc/graph/partition.h"

namespace tc::graph {
namespace {

/// A node to be, and the group it is made of.
struct Merged {
  Node node;
  std::optional<std::size_t> group;
};

Node merged_node(const Graph& graph, const std::vector<std::size_t>& group) {
  const auto part = make_part(graph, group);
  Node node;
  for (const auto n : part.nodes) {
    const auto& statements = graph.nodes[n].statements;
    node.statements.insert(node.statements.end(), statements.begin(), statements.end());
  }
  node.inputs = part.inputs;
  node.outputs = part.outputs;
  node.def = def_of(graph, part);
  return node;
}

/// Each group where its first node stood.
std::vector<Merged> merged_nodes(const Graph& graph, const std::vector<std::vector<std::size_t>>& groups) {
  std::map<std::size_t, std::size_t> group_of;
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const auto n : groups[g]) group_of[n] = g;
  std::set<std::size_t> made;
  std::vector<Merged> result;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto found = group_of.find(n);
    if (found == group_of.end())
      result.push_back({graph.nodes[n], std::nullopt});
    else if (made.insert(found->second).second)
      result.push_back({merged_node(graph, groups[found->second]), found->second});
  }
  return result;
}

}  // namespace

MergedGraph merge_nodes(const Graph& graph, const std::vector<std::vector<std::size_t>>& groups) {
  auto open = merged_nodes(graph, groups);
  MergedGraph result{graph, std::vector<std::size_t>(groups.size())};
  result.graph.nodes.clear();
  std::set<std::size_t> written(graph.inputs.begin(), graph.inputs.end());
  while (!open.empty()) {
    const auto ready = std::find_if(open.begin(), open.end(), [&](const Merged& each) {
      return std::all_of(each.node.inputs.begin(), each.node.inputs.end(),
                         [&](std::size_t tensor) { return written.count(tensor) > 0; });
    });
    if (ready == open.end()) throw InternalError("nodes that are merged need what reads them");
    written.insert(ready->node.outputs.begin(), ready->node.outputs.end());
    if (ready->group) result.merged[*ready->group] = result.graph.nodes.size();
    result.graph.nodes.push_back(std::move(ready->node));
    open.erase(ready);
  }
  result.graph = with_edges(std::move(result.graph));
  return result;
}

}  // namespace tc::graph
