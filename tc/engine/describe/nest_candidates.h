#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "tc/engine/compile/compile_options.h"

namespace tc::engine {

/// Options that name the nests of all clusters, and what prices say of them.
struct NestCandidate {
  options::MappingOptions options;  ///< with the option `nest`
  double seconds = 0;               ///< predicted, the sum of the prices of all clusters
  /// Terms of these prices, each as its share of `seconds`: what takes the time. The order is that of the price of a
  /// processor (CorePrice, then levels of memory and threads), or of a kernel (GridPrice).
  std::vector<double> terms;
};

/// The nests that \p options choose for \p function and \p arguments, then others, the cheapest first: for each cluster the
/// \p count cheapest that a search by prices meets, while the nests of the other clusters stay. Nothing is carried out,
/// compiled or measured.
///
/// Throws as map_launches().
std::vector<NestCandidate> nest_candidates(const std::shared_ptr<const Function>& function,
                                           const std::vector<Argument>& arguments, const CompileOptions& options,
                                           std::size_t count);

}  // namespace tc::engine
