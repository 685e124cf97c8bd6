#include "tc/graph/verify_graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/interpret/ranges.h"

namespace tc::graph {
namespace {

[[noreturn]] void fail(const Graph& graph, const std::string& why) {
  throw InternalError(str("a law of graphs is broken in '", graph.name, "': ", why));
}

/// Node number \p n, for people.
std::string name_of(const Graph& graph, std::size_t n) {
  const auto& node = graph.nodes[n];
  return str("node ", n,
             node.outputs.empty() ? "" : str(", which writes '", graph.tensors.at(node.outputs[0]).name, "'"));
}

/// \p tensors of node \p n are as \p params of its def.
template <typename Params>
void verify_operands(const Graph& graph, std::size_t n, const std::vector<std::size_t>& tensors, const Params& params) {
  if (tensors.size() != params.size())
    fail(graph, str(name_of(graph, n), ", has ", tensors.size(), " operands, its def ", params.size()));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i] >= graph.tensors.size()) fail(graph, str(name_of(graph, n), ", has no tensor ", tensors[i]));
    const auto& tensor = graph.tensors[tensors[i]];
    if (params[i].type && tensor.spec.dtype != *params[i].type)
      fail(graph, str("'", tensor.name, "' is ", tensor.spec, " in ", name_of(graph, n)));
  }
}

void verify_sizes(const Graph& graph, std::size_t n) {
  const auto& node = graph.nodes[n];
  std::vector<std::vector<std::int64_t>> shapes;
  for (const auto tensor : node.inputs) shapes.push_back(graph.tensors[tensor].spec.shape);
  const auto sizes = lang::bind_sizes(node.def->def, shapes);
  for (std::size_t o = 0; o < node.outputs.size(); ++o) {
    const auto& tensor = graph.tensors[node.outputs[o]];
    const auto found = node.def->ranges.tensors.find(node.def->def.returns[o].name);
    if (found == node.def->ranges.tensors.end()) continue;
    std::vector<std::int64_t> shape;
    for (const auto& range : lang::evaluate_box(found->second, sizes)) shape.push_back(range.extent);
    if (shape != tensor.spec.shape)
      fail(graph,
           str("'", tensor.name, "' is ", tensor.spec, ", its def makes ", contiguous(tensor.spec.dtype, shape)));
  }
}

}  // namespace

void verify(const Graph& graph) {
  std::map<std::size_t, std::size_t> written;
  const std::set<std::size_t> inputs(graph.inputs.begin(), graph.inputs.end());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto& node = graph.nodes[n];
    verify_operands(graph, n, node.inputs, node.def->def.params);
    verify_operands(graph, n, node.outputs, node.def->def.returns);
    for (const auto tensor : node.inputs) {
      if (!inputs.count(tensor) && !written.count(tensor))
        fail(graph,
             str(name_of(graph, n), ", reads '", graph.tensors[tensor].name, "', which nothing before it writes"));
      if (!contains(graph.tensors[tensor].consumers, n))
        fail(graph, str("'", graph.tensors[tensor].name, "' does not list ", name_of(graph, n), ", among its readers"));
    }
    for (const auto tensor : node.outputs) {
      if (graph.tensors[tensor].producer != n || !written.emplace(tensor, n).second)
        fail(graph, str("'", graph.tensors[tensor].name, "' is not written by ", name_of(graph, n), ", alone"));
    }
    verify_sizes(graph, n);
  }
  for (const auto tensor : graph.outputs)
    if (!written.count(tensor)) fail(graph, str("nothing writes the output '", graph.tensors.at(tensor).name, "'"));
}

void verify(const Graph& graph, const std::vector<Part>& parts) {
  std::set<std::size_t> known(graph.inputs.begin(), graph.inputs.end()), nodes;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (const auto tensor : parts[p].inputs)
      if (!known.count(tensor))
        fail(graph, str("part ", p, " reads '", graph.tensors.at(tensor).name, "', which no part before it gives"));
    for (const auto n : parts[p].nodes) {
      if (!nodes.insert(n).second) fail(graph, str(name_of(graph, n), ", is in two parts"));
      for (const auto tensor : graph.nodes.at(n).inputs) {
        const auto producer = graph.tensors[tensor].producer;
        if (!(producer && contains(parts[p].nodes, *producer)) && !contains(parts[p].inputs, tensor))
          fail(graph, str("part ", p, " does not take '", graph.tensors[tensor].name, "', which a node of it reads"));
      }
    }
    known.insert(parts[p].outputs.begin(), parts[p].outputs.end());
  }
  if (nodes.size() != graph.nodes.size())
    fail(graph, str("parts hold ", nodes.size(), " of ", graph.nodes.size(), " nodes"));
  for (const auto tensor : graph.outputs)
    if (!known.count(tensor)) fail(graph, str("no part gives the output '", graph.tensors.at(tensor).name, "'"));
}

}  // namespace tc::graph
