#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tc/layout/index/index.h"

namespace tc::layout {

/// Index expressions over iterators in isl's text form.
class IslIndex {
 public:
  /// The variables of \p iterators are \p prefix with a number.
  IslIndex(const std::vector<std::string>& iterators, const std::string& prefix);

  /// All variables, or the first \p count, as a tuple: "[n0, n1]".
  std::string tuple() const { return leading(variables_.size()); }
  std::string leading(std::size_t count) const;
  /// The variables in their ranges, as a condition.
  std::string box(const IteratorRanges& ranges) const;
  /// \p expr by the variables; nothing for what data decide.
  std::optional<std::string> index(const lang::ExprPtr& expr) const;
  /// Comparisons with < and >= joined by &&; nothing for other conditions.
  std::optional<std::string> condition(const lang::ExprPtr& expr) const;
  /// "[n0, n1 - 1]"; nothing if one is decided by data.
  std::optional<std::string> tuple_of(const std::vector<lang::ExprPtr>& exprs) const;

 private:
  std::optional<std::string> arithmetic(const lang::Binary& pair) const;

  std::map<std::string, std::string> names_;
  std::vector<std::string> variables_;
};

}  // namespace tc::layout
