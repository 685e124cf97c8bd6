#pragma once

#include <Halide.h>

#include <optional>
#include <vector>

namespace tc::cpu {

/// Conditions as conjunctions of comparisons, which are decided one after the other. One that is decided may decide others: where
/// h >= 1 holds, h + 1 >= 1 does, and h < 1 does not.
class Conjunctions {
 public:
  enum class Truth { Open, Holds, Fails };
  using Decisions = std::vector<Truth>;  ///< of each comparison

  /// Of \p conditions, scalars without memory; an undefined one always holds.
  explicit Conjunctions(const std::vector<Halide::Expr>& conditions);

  Decisions none() const { return Decisions(comparisons_.size(), Truth::Open); }
  const Halide::Expr& comparison(std::size_t c) const { return comparisons_[c].condition; }

  Truth of_condition(std::size_t condition, const Decisions& decisions) const;
  /// The comparison that most of the open conditions wait for; nothing where none is open.
  std::optional<std::size_t> next(const Decisions& decisions) const;
  /// \p decisions, and that comparison \p c holds or not, with what follows from it.
  Decisions with(Decisions decisions, std::size_t c, bool holds) const;

  /// How many cases there are in the tree that next() and with() make below \p decisions; \p most + 1 where more than \p most.
  std::size_t cases(const Decisions& decisions, std::size_t most) const;

 private:
  /// What is known of a comparison where another holds, and where it does not.
  struct Implied {
    Truth where_holds = Truth::Open, where_fails = Truth::Open;
  };
  struct Comparison {
    Halide::Expr condition;
    std::vector<Implied> of_others;
  };
  std::size_t number_of(const Halide::Expr& comparison);
  void add(const Halide::Expr& condition, std::vector<std::size_t>& to);

  std::vector<Comparison> comparisons_;
  std::vector<std::vector<std::size_t>> conditions_;  ///< the comparisons of each
};

}  // namespace tc::cpu
