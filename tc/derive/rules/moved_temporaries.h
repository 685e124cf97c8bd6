#pragma once

#include "tc/derive/rules/roll_view.h"

namespace tc::derive {

/// The range of the summed iterator of \p scope, which has one.
lang::IntegerRange summed_range(const Scope& scope);
/// The index of \p read, of \p scope, that is dimension \p j; -1: none, -2: several, or another function of it.
int position_of(const Program& program, const Scope& scope, const Read& read, int j);

/// Finds the temporaries of x and j that are computed by blocks of j, RollView::moved of a view whose maximum and sums are known.
class MovedTemporaries {
 public:
  /// \p range: of j. With names \p only, among these.
  MovedTemporaries(const Program& program, const lang::IntegerRange& range, RollView& view,
                   std::vector<std::string> only = {});

  /// Adds the tensor of \p read, of \p scope, if that is a temporary of rows and of dimension \p j of the scope, and the temporaries that it is
  /// made of. Throws Refusal where one is needed as a whole.
  void add(const Read& read, const Scope& scope, int j);
  /// Throws Refusal where another tensor than the view's maximum and sums reads one of them.
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
