#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tc/autodiff/differentiate.h"
#include "tc/engine/define/function.h"

namespace tc::engine {

/// The gradient of a function: a function that is compiled, tuned and cached like any other. Its parameters are those of
/// the function, the returns in `saved`, and the gradients `seeds` of returns; it returns the gradients of `wrt`.
struct GradientFunction {
  std::shared_ptr<const Function> function;
  std::vector<std::string> wrt, saved, seeds;
  std::vector<std::string> unread;  ///< parameters of which it needs sizes only
  std::vector<std::string> notes;   ///< what costs speed
};

/// The gradient of \p function, whose calls are written out for it. Throws as autodiff::differentiate.
GradientFunction gradient(const std::shared_ptr<const Function>& function, const autodiff::Options& options = {});

/// The Jacobian-vector product of a function. Its parameters are those of the function and `tangents`, one for each of
/// `wrt`; it returns the tangents of `of`.
struct TangentFunction {
  std::shared_ptr<const Function> function;
  std::vector<std::string> tangents, wrt, of;
};

/// Forward mode. Throws as autodiff::tangent.
TangentFunction tangent(const std::shared_ptr<const Function>& function, const autodiff::Options& options = {});

/// A function for a batch: the returns in `batched` have its dimension.
struct BatchedFunction {
  std::shared_ptr<const Function> function;
  std::vector<std::string> batched;
};

/// \p function for a batch of the parameters in \p places, whose dimension stands there. Throws as autodiff::batch.
BatchedFunction batch(const std::shared_ptr<const Function>& function, const std::map<std::string, int>& places);

}  // namespace tc::engine
