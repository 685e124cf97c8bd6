#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tc/lang/syntax/tree.h"

namespace tc::lang {

/// The integers [min, min + extent), both int64 expressions over the def's sizes.
struct Range {
  ExprPtr min, extent;
};

/// A condition on sizes that must hold at a call. `reason` says in words what it protects, for example
/// "subscript 1 of I, 'i + j', must stay inside [0, NM)".
struct Precondition {
  ExprPtr condition;  ///< bool over sizes
  std::string reason;
  SourceRange range;
  std::vector<ExprPtr> extents = {};  ///< of loops around what it protects: where one is 0 it need not hold
};

/// The result of range inference for one checked def without calls and lets.
struct Ranges {
  /// One entry a statement: its iterators.
  std::vector<std::map<std::string, Range>> statements;
  /// Every tensor: its index box, one Range a dimension. Parameters start at 0.
  std::map<std::string, std::vector<Range>> tensors;
  std::vector<Precondition> preconditions;
  /// Accesses (by their place in the checked tree) whose subscripts cannot be bounded by sizes: their values are
  /// checked against the tensor's box when the def runs.
  std::vector<const Expr*> data_dependent;
};

/// Values of the size names.
using SizeMap = std::map<std::string, std::int64_t>;

/// The values that a size may take, `max` among them.
struct SizeRange {
  std::int64_t min = 1, max = 1;
  bool operator==(const SizeRange&) const = default;
};
/// Symbolic sizes, which each call chooses anew, by name.
using SizeRanges = std::map<std::string, SizeRange>;

/// A range for concrete sizes: the integers [min, min + extent).
struct IntegerRange {
  std::int64_t min = 0, extent = 0;
  bool operator==(const IntegerRange&) const = default;
};
/// One range a dimension.
using Box = std::vector<IntegerRange>;

/// The value of an int64 or bool expression over sizes (bool as 0 or 1). Division floors, x/0 = 0.
/// Throws ArgumentError on overflow of int64, InternalError for a name without a value.
std::int64_t evaluate_size(const ExprPtr& expr, const SizeMap& sizes);

/// The values of the def's sizes that fit the parameters' shapes, from shapes in parameter order.
/// Throws ArgumentError: a wrong number or rank, a declared size that differs, a repeated size name with two values;
/// each message names parameter, dimension and both values.
SizeMap bind_sizes(const Def& def, const std::vector<std::vector<std::int64_t>>& shapes);

/// Throws ArgumentError with condition, its values and reason if a precondition does not hold or an extent is negative.
void check_preconditions(const Ranges& ranges, const SizeMap& sizes);

/// The boxes of \p ranges for concrete sizes.
Box evaluate_box(const std::vector<Range>& ranges, const SizeMap& sizes);

}  // namespace tc::lang
