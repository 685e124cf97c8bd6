#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tc/engine/compile/compile_options.h"
#include "tc/strategy/cost/traffic.h"
#include "tc/strategy/cost/work.h"
#include "tc/strategy/grid_price/grid_price.h"
#include "tc/strategy/price/price.h"

namespace tc::engine {

/// The operations and bytes of one run of a def, computed without running it.
struct WorkReport {
  strategy::Work work;
  std::optional<strategy::Traffic> traffic;      ///< of all launches, each with empty caches at its start
  std::string no_traffic;                        ///< why there is none
  std::vector<strategy::Price> prices;           ///< of each cluster that a processor runs, on all cores of its target
  std::vector<strategy::GridPrice> grid_prices;  ///< of each kernel that a GPU runs
  bool parallel = false;                         ///< some loop runs on several threads
  double lanes = 1;                              ///< of vectors: the harmonic mean over all instances of statements
  DType type = DType::Float32;  ///< the type whose peak is the limit: float64 if the def has such a tensor

  /// FLOPs per byte between the third cache and memory; 0 where traffic is not predicted.
  double intensity() const;
};

/// The report of \p function, compiled for \p arguments with \p options. Maps it again, which takes about half as
/// long as a compile.
WorkReport describe_work(const std::shared_ptr<const Function>& function, const std::vector<Argument>& arguments,
                         const CompileOptions& options);

/// The same for the source, target and options of \p image; a replaced schedule is not kept, so the compiler's own is
/// used.
WorkReport describe_work(const Image& image);

/// The report as a table: FLOPs, bytes between levels, intensity, what is read of each tensor, and the predicted time of
/// each cluster by its terms.
std::string to_string(const WorkReport& report);

}  // namespace tc::engine
