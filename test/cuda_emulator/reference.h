#pragma once

#include <optional>
#include <string>
#include <vector>

#include "test/support/error_analysis.h"
#include "test/support/oracle.h"

namespace tc::test {

/// What the interpreter computes from some arguments, and how far a kernel may be from it.
struct Reference {
  std::vector<HostTensor> outputs;
  std::string refusal;  ///< of arguments that the interpreter refuses, which has no outputs then
  ErrorBounds bounds;
};

/// The outputs of \p function on \p arguments with the bounds of their elements (error_analysis.h).
Reference reference(const engine::Function& function, Arguments arguments);

/// The first element of \p got, outputs of \p function, that is farther from \p want than its bound, as text, or
/// nothing: other bits, where that is 0.
std::optional<std::string> first_difference(const engine::Function& function, const std::vector<HostTensor>& got,
                                            const Reference& want);

/// The largest bound of an element, relative to the largest magnitude of its tensor.
double largest_bound(const engine::Function& function, const Reference& want);

}  // namespace tc::test
