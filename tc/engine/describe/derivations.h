#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tc/derive/derive.h"
#include "tc/engine/compile/compile_options.h"

namespace tc::engine {

/// One rule applied to a program, as TC before and after.
struct DerivedStep {
  std::string rule, what, before, after;
};

/// A program that equals a function for tensors of given shapes.
struct DerivedProgram {
  std::string text;                ///< a def whose sizes are numbers
  std::vector<DerivedStep> steps;  ///< none for the function itself
  std::string certificate;         ///< derive::derivation_text, which derive::check_derivation proves
  /// By the model that compiles with options.derive choose by (PartDerivations) where it prices all candidates, else by
  /// derive::PriceModel; what tuning measured where it did.
  double microseconds = 0;
  std::string source = "model";  ///< of the microseconds: "model", "measured"
};

struct DerivedPrograms {
  /// The cheapest first, those that were measured before those that were not; the function itself is among them.
  std::vector<DerivedProgram> candidates;
  derive::Statistics statistics;
  std::string note;  ///< why nothing was derived
};

/// Programs equal to \p function for \p inputs, derived as \p search says and priced as \p options would compile them;
/// nothing is measured, but prices that options.cache has of the same programs, for constants of the names in options.constants,
/// are told. Calls are written out. It stays within the limits of \p options. Throws ArgumentError for inputs that do not fit,
/// else as run_supervised().
DerivedPrograms derive_programs(const std::shared_ptr<const Function>& function, const std::vector<TensorSpec>& inputs,
                                const derive::Options& search, const CompileOptions& options);

}  // namespace tc::engine
