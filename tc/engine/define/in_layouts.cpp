#include "tc/engine/define/in_layouts.h"

#include "tc/lang/syntax/print.h"

namespace tc::engine {

LaidOutFunction in_layouts(const std::shared_ptr<const Function>& function, const std::vector<TensorSpec>& inputs,
                           const layout::Layouts& layouts, const Limits& limits) {
  return supervised(limits, "a def in layouts", [=](const Supervision& supervision) {
    const auto whole = inlined(function);
    const auto made = layout::apply_layouts({whole->def, whole->ranges}, bind_inputs(*whole, inputs), layouts);
    StageOptions<DefineState> options;
    options.cancellation = supervision.cancellation();
    LaidOutFunction result;
    result.function = define(lang::print(made.def()), made.def().name, options).functions.front();
    result.maps = made.maps;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::string& name = whole->def.params[i].name;
      if (layouts.stored_in.count(name)) continue;
      const auto map = made.maps.find(name);
      result.inputs.push_back(map == made.maps.end() ? inputs[i] : contiguous(inputs[i].dtype, map->second.physical()));
    }
    return result;
  });
}

}  // namespace tc::engine
