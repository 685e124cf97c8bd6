#include "tc/engine/compile/graph_interpreter.h"

#include <cstddef>
#include <cstring>
#include <map>
#include <utility>

#include "tc/engine/run/constant.h"
#include "tc/lang/interpret/interpret.h"

namespace tc::engine {

Executable::Interpreter graph_interpreter(graph::Graph graph, const std::vector<Argument>& arguments) {
  return [graph = std::move(graph), arguments](void* const* pointers) {
    std::vector<TensorView> views(graph.tensors.size());
    std::vector<Constant> temporaries;
    for (std::size_t t = 0; t < views.size(); ++t) {
      static_cast<TensorSpec&>(views[t]) = graph.tensors[t].spec;
      if (graph.tensors[t].role != lang::Role::Temporary) continue;
      temporaries.push_back(allocate_constant(graph.tensors[t].name, views[t]));
      views[t] = temporaries.back().view();
      std::memset(
          views[t].data, 0xff,
          static_cast<std::size_t>(views[t].element_count()) * static_cast<std::size_t>(byte_size(views[t].dtype)));
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
