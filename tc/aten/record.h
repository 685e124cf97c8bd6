#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tc/aten/engine.h"

namespace tc::aten {

/// The gradient of a function where some inputs have one, and some returns bring one. Its def takes the parameters of the
/// function, the returns in `saved`, and the gradients of those in `given`.
struct Record {
  std::shared_ptr<const Function> gradient;
  std::vector<bool> needs;         ///< by input, a parameter or a tensor that is added to: has a gradient
  std::vector<bool> given;         ///< by return: brings one
  std::vector<bool> reads;         ///< by parameter: more than its sizes matter
  std::vector<std::size_t> saved;  ///< places of returns
};

using Run = std::function<Tensors(at::TensorList)>;

/// What \p run gives for \p inputs of \p function, as a node of torch's graph: some input requires grad. Returns that are
/// no floats are not differentiable. Throws SemanticError where the function has no gradient.
Tensors record_call(const std::shared_ptr<const Function>& function, at::TensorList inputs, const Run& run);

/// Does one of \p inputs carry a tangent of forward mode?
bool carry_tangents(at::TensorList inputs);
/// What \p function gives for \p inputs, some of which carry tangents: float returns that carry theirs. Throws as
/// Function::tangent.
Tensors call_with_tangents(const Function& function, at::TensorList inputs);

}  // namespace tc::aten
