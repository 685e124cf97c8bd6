#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tc/engine/define/function.h"
#include "tc/engine/supervise/supervise.h"
#include "tc/layout/rewrite/apply.h"

namespace tc::engine {

/// A function of tensors in layouts, for concrete sizes: compiled, tuned and cached like any other.
struct LaidOutFunction {
  std::shared_ptr<const Function> function;
  std::vector<TensorSpec> inputs;                 ///< what it takes: dense where a layout is given
  std::map<std::string, layout::LayoutMap> maps;  ///< of the tensors that have a layout
};

/// \p function, whose calls are written out for it, for \p inputs, the tensors that it takes without layouts, with tensors in
/// \p layouts, made within \p limits. Throws as layout::apply_layouts and run_supervised(), ArgumentError for \p inputs that do
/// not fit.
LaidOutFunction in_layouts(const std::shared_ptr<const Function>& function, const std::vector<TensorSpec>& inputs,
                           const layout::Layouts& layouts, const Limits& limits = {});

/// \p layouts of tensors of \p function, and what layout::propagate() adds for \p inputs. Throws as in_layouts().
layout::Layouts propagated(const std::shared_ptr<const Function>& function, const std::vector<TensorSpec>& inputs,
                           const layout::Layouts& layouts, const Limits& limits = {});

/// The function `convert` of layout::conversion(). Throws OptionsError for layouts that a tensor of \p extents cannot have.
std::shared_ptr<const Function> conversion(DType type, const layout::Extents& extents, const layout::Layout& from,
                                           const layout::Layout& to);

/// The names of the tensors of \p function, whose calls are written out: parameters, then what statements write, in order.
std::vector<std::string> tensor_names(const std::shared_ptr<const Function>& function);

}  // namespace tc::engine
