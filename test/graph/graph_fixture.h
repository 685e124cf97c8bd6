#pragma once

#include <string>
#include <vector>

#include "tc/engine/define/function.h"
#include "tc/graph/bind.h"

namespace tc::graph {

/// The last def of \p text as a graph for dense tensors of \p shapes.
inline Graph bound(const std::string& text, const std::vector<std::vector<std::int64_t>>& shapes) {
  const auto function = engine::define(text).functions.back();
  std::vector<TensorSpec> inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    inputs.push_back(contiguous(function->def.tensors.at(function->def.params[i].name).type, shapes[i]));
  return graph::bind(function->defs, function->name(), inputs).value();
}

/// The last def of \p text, which is a text.
inline std::string last_def(const std::string& text) {
  engine::define(text);
  return text.substr(text.rfind("def "));
}

}  // namespace tc::graph
