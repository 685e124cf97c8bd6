#pragma once

#include <optional>
#include <vector>

#include "tc/derive/form/program.h"

namespace tc::derive {

/// A sum of products of an image and weights over windows of the image, its iterators by membership:
///
///                 groups   images   spatial   filters   channels   windows
///   result          x        x         x         x
///   image           x        x         x                   x          x        a window shares a subscript with a spatial one
///   weights         x                            x         x          x
///
/// Padding is a guard: where the image is read outside of its box there is no instance.
struct WindowView {
  std::vector<int> groups, images, spatial, filters, channels,
      windows;                                    ///< dimensions of the scope, each as it is fused
  std::size_t image = 0, weights = 0;             ///< reads of the case
  bool weights_fit = false, result_fits = false;  ///< are filters, and channels, one dimension of one stride?
  std::vector<int> weights_order, result_order;   ///< of a copy that fits

  /// How many of both have to be laid out before it is a convolution as routines have it.
  int distance() const { return !weights_fit + !result_fits; }
};

/// \p scope as a convolution, with the filters in the order of the result or of the weights, whichever has the least distance. Nothing
/// where it has other guards than those that keep reads inside of their tensors, other factors, or no windows.
std::optional<WindowView> view_windows(const Program& program, const Scope& scope);

}  // namespace tc::derive
