#pragma once

#include <Halide.h>

#include <optional>
#include <string>
#include <vector>

#include "tc/polyhedral/core/isl.h"

namespace tc::halide_bridge {

/// Reads Halide expressions over the iterators of one statement and symbolic sizes, which its domain has as parameters, as isl objects.
class AffineReader {
 public:
  /// \p domain has one dimension for each of \p iterators.
  AffineReader(isl::set domain, const std::vector<std::string>& iterators);

  /// \p expr, an integer, as a function on the domain's space, if it is quasi-affine there: sums, products by
  /// constants, / and % by positive constants, min, max, conditionals with affine conditions, and conversions that keep
  /// every value the expression takes in the domain.
  std::optional<isl::pw_aff> index(const Halide::Expr& expr) const;

  /// All points where \p condition may be \p holds: exact for affine comparisons, && || ! and conditionals of them;
  /// a part that is not affine may be either.
  isl::set where(const Halide::Expr& condition, bool holds) const;

 private:
  using Function = std::optional<isl::pw_aff>;

  Function parameter(const std::string& name) const;
  Function arithmetic(const Halide::Expr& expr) const;
  Function conditional(const Halide::Expr& condition, const Halide::Expr& then_value,
                       const Halide::Expr& else_value) const;
  Function converted(const Halide::Expr& value, Halide::Type type) const;
  isl::pw_aff constant(const isl::val& value) const;
  isl::set comparison(const Halide::Expr& condition, bool holds) const;

  isl::set domain_;
  isl::set universe_;
  std::vector<std::string> iterators_;
};

}  // namespace tc::halide_bridge
