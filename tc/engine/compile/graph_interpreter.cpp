#include "tc/engine/compile/graph_interpreter.h"

#include <cstddef>
#include <map>
#include <utility>

#include "tc/lang/interpret/interpret.h"

namespace tc::engine {
namespace {

std::size_t element_bytes(const TensorSpec& spec) {
  return static_cast<std::size_t>(element_span(spec).high + 1) * static_cast<std::size_t>(byte_size(spec.dtype));
}

}  // namespace

Executable::Interpreter graph_interpreter(graph::Graph graph, const std::vector<Argument>& arguments) {
  return [graph = std::move(graph), arguments](void* const* pointers) {
    std::vector<TensorView> views(graph.tensors.size());
    std::vector<std::vector<std::byte>> memory(graph.tensors.size());
    for (std::size_t t = 0; t < views.size(); ++t) {
      static_cast<TensorSpec&>(views[t]) = graph.tensors[t].spec;
      if (graph.tensors[t].role != lang::Role::Temporary) continue;
      memory[t].assign(element_bytes(views[t]), std::byte{0xff});
      views[t].data = memory[t].data();
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const auto tensor = i < graph.inputs.size() ? graph.inputs[i] : graph.outputs[i - graph.inputs.size()];
      static_cast<TensorSpec&>(views[tensor]) = arguments[i].spec;
      views[tensor].data = pointers[i];
    }
    for (const auto& node : graph.nodes) {
      std::map<std::string, TensorView> tensors;
      std::vector<std::vector<std::int64_t>> shapes;
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        tensors[node.def->def.params[i].name] = views[node.inputs[i]];
        shapes.push_back(views[node.inputs[i]].shape);
      }
      for (std::size_t o = 0; o < node.outputs.size(); ++o)
        tensors[node.def->def.returns[o].name] = views[node.outputs[o]];
      lang::interpret(node.def->def, node.def->ranges, lang::bind_sizes(node.def->def, shapes), tensors);
    }
  };
}

}  // namespace tc::engine
