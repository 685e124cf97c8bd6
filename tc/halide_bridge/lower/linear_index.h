#pragma once

#include <Halide.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tc/lang/interpret/ranges.h"

namespace tc::halide_bridge {

/// The sum of a constant and multiples of parts: variables, and what is no linear function of them.
struct LinearIndex {
  struct Term {
    Halide::Expr part;
    std::int64_t factor = 0;
  };
  std::vector<Term> terms;  ///< different parts, factors not 0, in order of appearance
  std::int64_t constant = 0;

  void add(const Halide::Expr& part, std::int64_t factor);
  void add(const LinearIndex& other, std::int64_t factor);
};

/// \p expr, of type Int(64), as such a sum.
LinearIndex linear_index(const Halide::Expr& expr);

/// The value of \p sum.
Halide::Expr to_expr(const LinearIndex& sum);

/// Subscripts and conditions of iterators with known ranges, in few operations.
class LinearIndices {
 public:
  /// \p domain has one interval for each of \p iterators.
  LinearIndices(const std::vector<std::string>& iterators, const lang::Box& domain);

  /// \p expr, an Int(64) or a condition, with the same value for all iterators in their ranges. Quotients, remainders and
  /// comparisons that ranges decide are gone; what a comparison compares is without what both sides have. Parts that are
  /// no integer arithmetic stay as they are.
  ///
  ///   (2*ho + hi - (2*ko + hi))/2, hi in 0:2        ho - ko
  ///   2*ho + hi < 2*ko + hi + 8                     ho < ko + 4
  Halide::Expr simplified(const Halide::Expr& expr) const;

 private:
  struct Bounds {
    std::int64_t low = 0, high = 0;
  };

  LinearIndex read(const Halide::Expr& expr) const;
  LinearIndex quotient(const LinearIndex& sum, std::int64_t divisor) const;
  LinearIndex remainder(const LinearIndex& sum, std::int64_t divisor) const;
  Halide::Expr condition(const Halide::Expr& expr) const;
  Halide::Expr not_negative(LinearIndex sum) const;
  Halide::Expr zero(LinearIndex sum) const;
  std::optional<Bounds> bounds(const LinearIndex& sum) const;
  std::optional<Bounds> bounds_of_part(const Halide::Expr& part) const;

  const std::vector<std::string>& iterators_;
  const lang::Box& domain_;
};

}  // namespace tc::halide_bridge
