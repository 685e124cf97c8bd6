#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "tc/engine/compile/compile_options.h"

namespace tc::engine {

/// A part of a graph, and its share of the graph's time.
struct TimedPart {
  std::shared_ptr<const Function> function;  ///< without calls
  std::vector<TensorSpec> inputs, outputs;
  std::size_t runs = 0;  ///< equal parts in one run of the graph
  double seconds = 0;    ///< of one of them, predicted
};

/// The different parts of own code that a compile of \p function for \p inputs with \p options makes, the ones that take the most time in a run
/// first. Parts that depend on constants alone, of which only the names count, are left out. A def that is compiled as one is one part.
/// Seconds are predicted by price_problem(), because measuring would need a compile of each part; a part without a price is measured.
/// Throws OptionsError for a GPU, otherwise as compile().
std::vector<TimedPart> timed_parts(const std::shared_ptr<const Function>& function,
                                   const std::vector<TensorSpec>& inputs, const CompileOptions& options);

}  // namespace tc::engine
