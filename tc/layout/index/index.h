#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/tree.h"

/// Subscripts whose iterators have known ranges, so that quotients and remainders fold away where the ranges allow it.
/// Expressions are as the parser gives them, without types.
namespace tc::layout {

using lang::ExprPtr;

/// What values each iterator takes.
using IteratorRanges = std::map<std::string, lang::IntegerRange>;

/// The sum of coefficient * part and a constant. A part is an iterator, a quotient or remainder by a constant, or what is
/// no arithmetic: an element of an index tensor, min, max.
struct Index {
  struct Term {
    ExprPtr part;
    std::string text;  ///< of the part: equal parts have equal texts
    std::int64_t coefficient = 0;
  };
  std::vector<Term> terms = {};  ///< different parts, coefficients not 0, in order of appearance
  std::int64_t constant = 0;

  Index() = default;
  explicit Index(std::int64_t value) : constant(value) {}
  /// Adds \p coefficient * \p part, a part as above.
  void add(const ExprPtr& part, std::int64_t coefficient);
  void add(const Index& other, std::int64_t factor = 1);
  /// Equal up to the order of terms.
  bool operator==(const Index& other) const;
};

/// The iterator \p name.
Index index_of(const std::string& name);
/// The first and the last value; the last is not smaller.
struct Bounds {
  std::int64_t low = 0, high = 0;
};
/// The least and the greatest value that \p index may take while iterators stay in \p ranges; nothing where a part has
/// no bounds (data) or they do not fit into 64 bits.
std::optional<Bounds> bounds(const Index& index, const IteratorRanges& ranges);

/// floor(\p index / \p divisor) and the rest, \p divisor > 0, simplified by \p ranges.
///
///   (16*co + ci) / 16, ci in 0:16     gives   co          (4*co + ci) / 16, ci in 0:4    gives   co/4
///   (16*co + ci) % 16                 gives   ci          (4*co + ci) % 16               gives   4*(co%4) + ci
Index quotient(const Index& index, std::int64_t divisor, const IteratorRanges& ranges);
Index remainder(const Index& index, std::int64_t divisor, const IteratorRanges& ranges);

/// How index expressions are read.
struct IndexReading {
  const std::map<std::string, Index>& values;        ///< what names become; others stay
  const IteratorRanges& ranges;                      ///< of the names in those values
  std::function<ExprPtr(const ExprPtr&)> of_others;  ///< what parts that are no arithmetic become
};
/// \p expr, int64 or as the parser gives it, with names replaced.
Index read_index(const ExprPtr& expr, const IndexReading& reading);

/// The value as the text has it, with a minus where it is negative.
ExprPtr literal(std::int64_t value);
/// The shortest text of \p index, what is positive first: 16*co + ci - 1.
ExprPtr to_expr(const Index& index);

}  // namespace tc::layout
