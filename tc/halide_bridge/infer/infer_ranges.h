#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tc/base/cancellation.h"
#include "tc/base/error.h"
#include "tc/lang/check/inline.h"
#include "tc/lang/interpret/ranges.h"

namespace tc::halide_bridge {

/// The ranges of a def (checked, without calls and lets) statement by statement, by forward inference in rounds with
/// Halide's interval solver, and the conditions on sizes that remain.
///
///   def f(float(H) I, float(KH) K) -> (O) { O(h) +=! I(h+k) * K(k) }
///     k in [0, KH)   h in [0, H - KH + 1)   O: [0, H - KH + 1)
///
/// Errors are collected until finish().
class RangeInference : public lang::GrowingRanges {
 public:
  /// \p head has the parameters, returns and sizes; it and \p text, the source for messages, must live as long. Work
  /// ends by an exception of \p cancellation when that says so.
  RangeInference(const lang::Def& head, const std::string& text, const std::string& name,
                 const Cancellation& cancellation);
  ~RangeInference() override;

  void add(const lang::Statement& statement) override;
  const std::vector<lang::Range>* box(const std::string& tensor) override;
  /// The ranges of all statements; warnings of statements that stand in the head's text are appended to \p warnings
  /// unless it is null. Throws SemanticError: an iterator without a range, a range that is provably empty-negative, a
  /// condition that can never hold, a read of an unassigned tensor; with the errors of the def, as many as
  /// lang::Diagnostics takes.
  lang::Ranges finish(std::vector<Diagnostic>* warnings = nullptr);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// All of \p def at once.
lang::Ranges infer_ranges(const lang::Def& def, const std::string& text, const std::string& name = "<tc>",
                          std::vector<Diagnostic>* warnings = nullptr, const Cancellation& cancellation = {});

}  // namespace tc::halide_bridge
