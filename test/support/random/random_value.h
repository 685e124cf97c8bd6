#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/tree.h"

/// Random typed expressions; the inner part of random_program.
namespace tc::test {

/// Draws that are the same with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// A number in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <typename Items>
  const auto& pick(const Items& items) {
    return items[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(items.size()) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

/// What is known of numbers: their magnitude, bits behind the binary point, and whether infinities and NaN, or
/// rounding errors, may be among them.
struct Knowledge {
  double magnitude = 0;
  int fraction_bits = 0;
  bool finite = true;
  bool exact = true;
};

/// A tensor that may be read.
struct KnownTensor {
  std::string name;
  DType type = DType::Float32;
  lang::Box box;
  std::vector<lang::ExprPtr> extents;  ///< size expressions
  Knowledge knowledge;
  std::optional<lang::IntegerRange> index_values;  ///< all its elements lie there
};

struct KnownIterator {
  std::string name;
  std::int64_t low = 0, high = 0;
  bool inferred = false;  ///< has no `where` range
};

/// An expression with its type.
struct Term {
  lang::ExprPtr expr;
  DType type = DType::Float32;
  Knowledge knowledge;
  bool literal = false;  ///< its type adapts to the surroundings
};

/// Shorthands to build trees.
lang::ExprPtr integer(std::int64_t value);
lang::ExprPtr name(const std::string& id);
lang::ExprPtr binary(lang::BinaryOp op, lang::ExprPtr left, lang::ExprPtr right);
lang::ExprPtr call(const std::string& function, std::vector<lang::ExprPtr> arguments);
lang::ExprPtr cast(DType type, lang::ExprPtr value);

/// Builds values over the iterators and tensors of one statement.
class ValueGenerator {
 public:
  ValueGenerator(Random& random, const std::vector<KnownTensor>& tensors, const std::vector<KnownIterator>& iterators,
                 const std::vector<std::string>& sizes, bool inexact)
      : random_(random), tensors_(tensors), iterators_(iterators), sizes_(sizes), inexact_(inexact) {}

  /// A value of \p type, below 2^20 in magnitude for floats.
  Term value(DType type, int depth);
  Term condition(int depth);
  /// An element of \p tensor at subscripts that stay inside it; guarded where they do not.
  Term read(const KnownTensor& tensor);
  /// \p term as \p type, by a written cast.
  Term convert(Term term, DType type);
  /// \p term brought below \p magnitude (floats).
  Term limit(Term term, double magnitude);

 private:
  struct Subscript {
    lang::ExprPtr expr;
    std::int64_t low = 0, high = 0;  ///< inclusive
  };
  Subscript digit();
  Subscript affine();
  Subscript subscript_inside(const lang::IntegerRange& box, const lang::ExprPtr& extent);
  std::optional<Subscript> gather(const lang::IntegerRange& box);
  Term literal(DType type);
  Term leaf(DType type);
  Term bits(DType type, int depth);
  Term combine(DType type, int depth);
  Term function(DType type, int depth);
  Term smooth_function(DType type, int depth);
  Term pinned(Term term);
  bool is_inferred(const lang::ExprPtr& expr) const;
  Term guarded(Term term, const lang::ExprPtr& guard);

  Random& random_;
  const std::vector<KnownTensor>& tensors_;
  const std::vector<KnownIterator>& iterators_;
  const std::vector<std::string>& sizes_;
  bool inexact_;
};

}  // namespace tc::test
