#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/autodiff/terms/expressions.h"

namespace tc::autodiff {

/// The integers low <= i < high of one iterator.
struct IteratorRange {
  std::string name;
  ExprPtr low, high;
};

/// Parameters of isl, by the text of what they stand for.
struct IslParameters {
  std::map<std::string, std::string> names;
  std::set<std::string> identifiers;  ///< that stand in these texts

  /// "[p0, p1] -> "; all texts over them must be written by then.
  std::string text() const;
};

/// Writes index expressions and conditions in isl's text form: iterators are dimensions, sizes are parameters, and so is
/// each part that is not affine. Such a part of sizes alone may have any value, which keeps proofs sound; one with
/// iterators makes the text inexact.
class IslText {
 public:
  /// \p parameters, which several texts may share, must live as long.
  IslText(const std::vector<std::string>& iterators, IslParameters& parameters);

  std::string index(const ExprPtr& expr);
  /// Nothing for a condition on data.
  std::optional<std::string> condition(const ExprPtr& expr);
  std::string range(const IteratorRange& range);
  /// The names of \p iterators as dimensions: "[i0, i2]".
  std::string tuple(const std::vector<std::string>& iterators);
  /// Is every part affine, or made of sizes?
  bool exact() const { return exact_; }

 private:
  std::string part(const ExprPtr& expr);
  std::string parameter(const ExprPtr& expr);

  std::map<std::string, std::string> iterators_;
  IslParameters& parameters_;
  bool exact_ = true;
};

}  // namespace tc::autodiff
