#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tc/lang/check/free_names.h"
#include "tc/lang/interpret/ranges.h"

/// Statements that inlining adds to those of a def.
namespace tc::lang {

/// A tensor that is copied, and where it begins: a null min, or none, is 0.
struct Side {
  std::string tensor;
  std::vector<ExprPtr> mins = {};

  /// Where dimension \p d begins.
  ExprPtr min(int d) const { return mins.empty() ? nullptr : mins[static_cast<std::size_t>(d)]; }
};

/// target(i, ...) = source(i - min of the target + min of the source, ...), of \p rank dimensions; \p cast: a type to
/// convert to. Its iterators are new ones of \p names.
Assignment copy_statement(const Side& target, const Side& source, int rank, std::optional<DType> cast,
                          SourceRange range, FreeNames& names);

/// Two expressions that must be one number.
struct SizeEquation {
  std::string tensor;
  int dimension;
  ExprPtr expected, actual;
};

/// A tensor of \p names whose extents are expected - actual and actual - expected: negative, thus refused at the call,
/// unless equal.
///
///   X_size_0_1(i, j) = false where i in 0:(C - K), j in 0:(K - C)
Assignment equation_statement(const SizeEquation& equation, SourceRange range, FreeNames& names);

/// The clause `\p index in 0:\p high`.
Clause range_clause(const std::string& index, const ExprPtr& high, SourceRange range);

/// The clause `\p index in min:min + extent` of \p range, at \p place.
Clause range_clause(const std::string& index, const Range& range, SourceRange place);

}  // namespace tc::lang
