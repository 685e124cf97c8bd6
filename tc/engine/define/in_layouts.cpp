#include "tc/engine/define/in_layouts.h"

#include "tc/base/contains.h"
#include "tc/lang/syntax/print.h"
#include "tc/layout/rewrite/propagate.h"

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

layout::Layouts propagated(const std::shared_ptr<const Function>& function, const std::vector<TensorSpec>& inputs,
                           const layout::Layouts& layouts, const Limits& limits) {
  return supervised(limits, "layouts of temporaries", [=](const Supervision&) {
    const auto whole = inlined(function);
    return layout::propagate({whole->def, whole->ranges}, bind_inputs(*whole, inputs), layouts);
  });
}

std::shared_ptr<const Function> conversion(DType type, const layout::Extents& extents, const layout::Layout& from,
                                           const layout::Layout& to) {
  const auto made = layout::conversion(type, extents, from, to);
  return define(lang::print(made.def()), made.def().name).functions.front();
}

std::vector<std::string> tensor_names(const std::shared_ptr<const Function>& function) {
  const auto whole = inlined(function);
  std::vector<std::string> result;
  for (const auto& param : whole->def.params) result.push_back(param.name);
  for (const auto& statement : whole->def.statements)
    if (const auto* written = std::get_if<lang::Assignment>(&statement.node))
      if (!contains(result, written->target)) result.push_back(written->target);
  return result;
}

}  // namespace tc::engine
