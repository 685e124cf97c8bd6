#pragma once

#include <string>
#include <vector>

#include "tc/autodiff/terms/products.h"

namespace tc::autodiff {

/// The derivative of a built-in function with respect to one argument, where all conditions hold; elsewhere 0. Several
/// for one argument add up.
struct Partial {
  std::size_t argument = 0;
  std::vector<ExprPtr> conditions = {};
  Sum value = {};
};

/// The partial derivatives of \p function at \p arguments; \p result is its value there, by a name or written out.
/// Empty for functions whose derivative is 0 everywhere it exists, nothing for one whose derivative is not known.
///
///   tanh(x)     1 - result*result      fmax(x, y)    x: 1 where x >= y || isnan(y)    y: 1 where y > x || isnan(x)
std::optional<std::vector<Partial>> partials(const std::string& function, const std::vector<ExprPtr>& arguments,
                                             const ExprPtr& result);

}  // namespace tc::autodiff
