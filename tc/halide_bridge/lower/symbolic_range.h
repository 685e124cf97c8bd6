#pragma once

#include <Halide.h>

#include <memory>

#include "tc/halide_bridge/lower/program.h"
#include "tc/polyhedral/core/isl.h"

namespace tc::halide_bridge {

/// A range whose bounds may depend on symbolic sizes.
struct SymbolicRange {
  lang::IntegerRange values;  ///< all that it holds for some values of these sizes
  Halide::Expr end, extent;   ///< over their variables; undefined where they do not decide it
};

/// { : } the values that symbolic sizes take in a run: within their ranges, and so that the preconditions hold.
isl::set size_values(isl::ctx ctx, const lang::SizeRanges& symbolic, const std::vector<Halide::Expr>& preconditions);

/// Reads expressions over sizes of which some are symbolic.
class SymbolicRangeReader {
 public:
  /// \p sizes has all sizes; both live as long as this does.
  SymbolicRangeReader(const lang::SizeMap& sizes, const lang::SizeRanges& symbolic);

  const lang::SizeRanges& sizes() const { return symbolic_; }
  /// Does \p expr name a symbolic size?
  bool is_symbolic(const lang::ExprPtr& expr) const;
  /// Throws OptionsError for an end that is not affine in symbolic sizes, and for a range that begins at one.
  ///
  ///   before  0 : N + 2 with N in 1:512      after  values 0:514, end N + 2
  SymbolicRange range(const lang::Range& range) const;
  /// For which sizes \p precondition holds, or need not. Throws OptionsError where it is not affine in symbolic ones.
  Halide::Expr condition(const lang::Precondition& precondition) const;
  /// For which sizes the extent of \p range is not negative; undefined: for all, or symbolic ones do not decide it.
  Halide::Expr is_range(const lang::Range& range) const;

 private:
  Halide::Expr lowered(const lang::ExprPtr& expr) const;
  [[noreturn]] void refuse(const lang::ExprPtr& expr) const;

  const lang::SizeMap& sizes_;
  const lang::SizeRanges& symbolic_;
  std::unique_ptr<polyhedral::Context> context_;  ///< null without symbolic sizes
};

}  // namespace tc::halide_bridge
