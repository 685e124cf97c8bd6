#pragma once

#include "tc/derive/rules/roll_view.h"

namespace tc::derive {

/// The ranges of \p scope's summed iterator; it has one.
lang::IntegerRange summed_range(const Scope& scope);

/// Finds the temporaries of x and j that are computed by blocks of j, RollView::moved of a view whose maximum and sums are known.
class MovedTemporaries {
 public:
  /// \p range: of j. With names \p only, among these.
  MovedTemporaries(const Program& program, const lang::IntegerRange& range, RollView& view,
                   std::vector<std::string> only = {});

  /// Notes what \p read, of \p scope, finds, if that is a temporary of rows and of dimension \p j of the scope, and what it is made of.
  /// Throws Refusal where it is needed as a whole.
  void add(const Read& read, const Scope& scope, int j);
  /// Throws Refusal where something else than the view's maximum and sums reads what was found.
  void check_readers() const;
  /// Brings them into the order of the program.
  void sort();

 private:
  const Program& program_;
  lang::IntegerRange range_;
  RollView& view_;
  std::vector<std::string> only_;
};

}  // namespace tc::derive
