#pragma once

#include <map>
#include <optional>
#include <string>

#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/tree.h"
#include "tc/proof/isl.h"

namespace tc::proof {

/// Reads expressions of the tree as functions of the iterators of one statement.
class AffineReader {
 public:
  /// \p domain: { S[i] }, its dimensions called \p iterators; \p boxes of tensors for `A.0`.
  AffineReader(isl::set domain, const std::vector<std::string>& iterators, const lang::SizeMap& sizes,
               const std::map<std::string, lang::Box>& boxes);

  /// The value of \p expr; nothing where it is no piecewise affine function of the iterators in 64-bit integers.
  std::optional<isl::pw_aff> value(const lang::ExprPtr& expr) const;
  /// The instances for which \p condition holds, or does not: all of them where it is not affine.
  isl::set where(const lang::ExprPtr& condition, bool holds) const;

 private:
  std::optional<isl::pw_aff> read(const lang::Expr& expr) const;
  std::optional<isl::pw_aff> binary(const lang::Binary& node) const;
  std::optional<isl::pw_aff> choice(const lang::ExprPtr& condition, const lang::ExprPtr& a,
                                    const lang::ExprPtr& b) const;
  std::optional<isl::pw_aff> call_value(const lang::Call& node) const;
  isl::set compare(const lang::Binary& node, bool holds) const;
  isl::pw_aff constant(const isl::val& value) const;

  isl::set domain_, universe_;
  std::map<std::string, int> iterators_;
  const lang::SizeMap& sizes_;
  const std::map<std::string, lang::Box>& boxes_;
};

}  // namespace tc::proof
