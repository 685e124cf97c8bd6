#pragma once

#include <string>
#include <vector>

#include "tc/autotuner/tuner.h"
#include "tc/engine/graph/derive_part.h"

namespace tc::autotuner {

/// A program that computes a part of a graph, as it was measured.
struct TunedProgram {
  engine::DerivableProgram program;  ///< without rules: the part as it is written
  Candidate measured;
  double seconds = 0;  ///< of a run: the median of the finals, else the least of the search; 0: it failed
};

/// A part of a graph, and the programs that rules derive from it.
struct TunedPart {
  std::string name;
  std::vector<TunedProgram> programs;  ///< the part as it is written first, then as the model orders them
  std::size_t best = 0;                ///< the first, unless another is faster beyond noise (faster())
  bool kept = false;                   ///< in the cache
};

struct DerivationTuning {
  std::vector<TunedPart> parts;
  Stop stop = Stop::Exhausted;
  double elapsed = 0;  ///< seconds
};

/// Programs of a part that are measured where settings.candidates is 0.
inline constexpr int most_programs = 24;

/// Measures the programs that a compile of \p function for \p inputs with how.derive, how.libraries and constants of the names in
/// how.constants derives from parts of its graph (engine::derivable_parts), each part by itself on made-up numbers:
///
///   part -> derive -> compile, in processes -> code not seen before -> run, check, time -> the fastest in turns with the part
///
/// What was measured goes into settings.cache, and compiles with CompileOptions::derive take it from there instead of the
/// model's prices; the proof is checked again. Of \p settings count worker, budget (for all parts), candidates (of a part),
/// seed, target, threads, limits, finals, cache and cancellation. Finals that do not end in time decide nothing, and are
/// not kept.
///
/// Throws as tune(), and ArgumentError for constants that \p function does not take.
DerivationTuning tune_derivations(const std::shared_ptr<const engine::Function>& function,
                                  const std::vector<TensorSpec>& inputs, const TuneSettings& settings,
                                  const engine::CompileOptions& how);

}  // namespace tc::autotuner
