#include "tc/graph/constant_nodes.h"

#include <algorithm>

namespace tc::graph {
namespace {

using Nodes = std::set<std::size_t>;

std::int64_t bytes_of(const Graph& graph, const std::vector<std::size_t>& tensors) {
  std::int64_t bytes = 0;
  for (auto tensor : tensors)
    bytes += graph.tensors[tensor].spec.element_count() * byte_size(graph.tensors[tensor].spec.dtype);
  return bytes;
}

bool is_read_outside(const Graph& graph, const Node& node, const Nodes& inside) {
  return std::any_of(node.outputs.begin(), node.outputs.end(), [&](auto tensor) {
    const auto& readers = graph.tensors[tensor].consumers;
    return std::any_of(readers.begin(), readers.end(), [&](auto reader) { return !inside.count(reader); });
  });
}

}  // namespace

std::set<std::size_t> decided_nodes(const Graph& graph, const std::set<std::string>& constants) {
  std::set<std::size_t> result;
  auto is_decided = [&](std::size_t t) {
    const auto& tensor = graph.tensors[t];
    return tensor.producer ? result.count(*tensor.producer) > 0 : constants.count(tensor.name) > 0;
  };
  auto is_temporary = [&](std::size_t t) { return graph.tensors[t].role == lang::Role::Temporary; };
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto& node = graph.nodes[n];
    if (!node.inputs.empty() && std::all_of(node.inputs.begin(), node.inputs.end(), is_decided) &&
        std::all_of(node.outputs.begin(), node.outputs.end(), is_temporary))
      result.insert(n);
  }
  return result;
}

std::set<std::size_t> constant_nodes(const Graph& graph, const std::set<std::string>& constants) {
  auto nodes = decided_nodes(graph, constants);
  for (auto n = graph.nodes.size(); n-- > 0;) {
    const auto& node = graph.nodes[n];
    if (!nodes.count(n) || !is_read_outside(graph, node, nodes)) continue;
    if (bytes_of(graph, node.outputs) > bytes_of(graph, node.inputs) && !reduces(node)) nodes.erase(n);
  }
  return nodes;
}

std::set<std::size_t> held_tensors(const Graph& graph, const std::set<std::string>& constants,
                                   const std::set<std::size_t>& nodes) {
  std::set<std::size_t> result;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const auto& tensor = graph.tensors[t];
    if (tensor.producer ? nodes.count(*tensor.producer) : constants.count(tensor.name)) result.insert(t);
  }
  return result;
}

}  // namespace tc::graph
