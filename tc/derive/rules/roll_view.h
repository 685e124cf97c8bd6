#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tc/derive/form/program.h"

namespace tc::derive {

/// A sum whose terms have the exponential of a maximum as a factor: o(y) +=! exp(c * (s(x(y), j) - m(x(y)))) * u(y, j) * w(y); or any sum,
/// without a maximum.
struct RolledSum {
  std::string tensor;
  std::string reference = {};  ///< what is taken off s: the maximum, or one that is 0 where that is infinite
  std::optional<isl::multi_aff> row = {};           ///< { instance -> x }
  std::optional<DType> rounding = {};               ///< of the exponential, to 16 bits
  std::vector<lang::ExprPtr> inside = {};           ///< the factors u, ...
  std::vector<lang::ExprPtr> inside_divisors = {};  ///< ... and what they are divided by
  std::vector<lang::ExprPtr> outside = {};          ///< the factors w, which do not depend on j
  std::vector<lang::ExprPtr> outside_divisors = {};

  bool has_exponential() const { return row.has_value(); }
};

/// A maximum m(x) max=! s(x, j) with the sums that can be computed together with it, block by block of j. Of a minimum c is negative.
/// Without a maximum, sums over one iterator j.
struct RollView {
  std::string maximum = {};
  double factor = 1;  ///< c
  std::vector<RolledSum> sums = {};
  std::vector<std::string> moved =
      {};  ///< temporaries of x and j that s and the sums read, in the order of the program
  /// The index of each of them that j is.
  std::vector<int> positions = {};

  bool has_maximum() const { return !maximum.empty(); }
  /// Of j.
  lang::IntegerRange range(const Program& program) const;
  /// The position of j among the indices of \p tensor; -1 if it is not among `moved`.
  int position(const std::string& tensor) const;
};

/// The first maximum or minimum of \p program that rolls. Elementwise temporaries between it and the sums have been written out.
/// Throws Refusal with the reason where none does: what reads the maximum over the same iterator otherwise, or another factor, range or
/// iterator.
RollView roll_view(const Program& program);

/// The view of \p sums, which are over one iterator with one range and depend on none of each other, with the wide temporaries that they
/// read. Throws Refusal where one of these is read at another index than that, or elsewhere.
RollView view_of_sums(const Program& program, const std::vector<std::string>& sums);

/// Does a sum of floats, \p scope, go over one iterator, with all instances of a box?
bool is_sum_over_one(const Program& program, const Scope& scope);

/// The sums that roll with the first maximum of \p program that does, and the maximum, whatever else reads their temporaries.
/// Nothing where none rolls.
std::vector<std::string> rolled_with_maximum(const Program& program);

/// The maxima and minima over one iterator in \p program, each of a box of instances, in order.
std::vector<std::string> row_maxima(const Program& program);
/// \p maximum, and the temporaries that are 0 where it is infinite and equal to it elsewhere.
std::vector<std::string> references_to(const Program& program, const std::string& maximum);

/// The factors of a quotient of products, and its divisors.
struct Quotient {
  std::vector<lang::ExprPtr> factors, divisors;
};
Quotient quotient_of(const lang::ExprPtr& expr);

}  // namespace tc::derive
