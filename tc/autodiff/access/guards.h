#pragma once

#include <memory>
#include <vector>

#include "tc/autodiff/access/isl_text.h"

namespace tc::autodiff {

/// Proves conditions on indices for all sizes, by isl.
class GuardProver {
 public:
  /// \p sizes are expressions that are not negative: the dimensions of parameters.
  explicit GuardProver(std::vector<ExprPtr> sizes);
  ~GuardProver();

  /// Does \p condition hold wherever the iterators are in \p ranges and all of \p known hold? What isl does not decide
  /// in its quota, and a condition on data, is not proved.
  bool implies(const std::vector<IteratorRange>& ranges, const std::vector<ExprPtr>& known, const ExprPtr& condition);

  /// \p guards without what ranges and the others imply, the last dropped first.
  ///
  ///   x >= 0 && x < N && x - 1 >= 0   for x in 0:N      gives    x - 1 >= 0
  std::vector<ExprPtr> simplified(const std::vector<IteratorRange>& ranges, std::vector<ExprPtr> guards);

  /// Is the value that \p element gives to each iterator of \p box in its range, wherever \p ranges and \p known hold?
  bool inside(const std::vector<IteratorRange>& box, const Renaming& element, const std::vector<IteratorRange>& ranges,
              const std::vector<ExprPtr>& known);

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tc::autodiff
