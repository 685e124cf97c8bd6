#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tc/autodiff/differentiate.h"
#include "tc/engine/define/function.h"
#include "tc/engine/supervise/supervise.h"

namespace tc::engine {

/// The gradient of a function: a function that is compiled, tuned and cached like any other. Its parameters are the
/// function's parameters, the returns in `saved`, and the gradients `seeds` of returns; it returns the gradients of
/// `wrt`.
struct GradientFunction {
  std::shared_ptr<const Function> function;
  std::vector<std::string> wrt, saved, seeds;
  std::vector<std::string> unread;  ///< parameters of which only sizes are needed
  std::vector<std::string> notes;   ///< reasons why it may be slow
};

/// The gradient of \p function, with its calls inlined, within \p limits. Throws as autodiff::differentiate and
/// run_supervised().
GradientFunction gradient(const std::shared_ptr<const Function>& function, const autodiff::Options& options = {},
                          const Limits& limits = {});

/// The Jacobian-vector product of a function. Its parameters are the function's parameters and `tangents`, one for
/// each of `wrt`; it returns the tangents of `of`.
struct TangentFunction {
  std::shared_ptr<const Function> function;
  std::vector<std::string> tangents, wrt, of;
};

/// Forward mode, within \p limits. Throws as autodiff::tangent and run_supervised().
TangentFunction tangent(const std::shared_ptr<const Function>& function, const autodiff::Options& options = {},
                        const Limits& limits = {});

/// A function for a batch: the returns in `batched` have its dimension.
struct BatchedFunction {
  std::shared_ptr<const Function> function;
  std::vector<std::string> batched;
};

/// \p function for a batch of the parameters in \p places, which maps them to the position of the batch dimension,
/// within \p limits. Throws as
/// autodiff::batch and run_supervised().
BatchedFunction batch(const std::shared_ptr<const Function>& function, const std::map<std::string, int>& places,
                      const Limits& limits = {});

}  // namespace tc::engine
