#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tc/autodiff/terms/products.h"

namespace tc::autodiff {

/// What one read of a statement gets: `value` where all conditions hold.
struct ReadAdjoint {
  ExprPtr read;  ///< the access, in the statement's iterators
  std::vector<ExprPtr> conditions;
  Sum value;
};

/// A value and the conditions under which it counts.
struct Guarded {
  std::vector<ExprPtr> conditions;
  Sum value;
};

/// Called for a function whose derivative is not known, with the place of the call; for `*=!`, whose third derivative is
/// not, with its spelling.
using UnknownDerivative = std::function<void(const std::string& function, lang::SourceRange place)>;

/// The chain rule through the value of a statement: what the reads of \p active versions get where the value gets
/// \p adjoint. \p result is a name the value has there, or null. Reads with equal subscripts and conditions are added up.
///
///   value  c ? A(i)*B(i) : A(i)     adjoint  g      gives    A(i): c, g*B(i)    B(i): c, g*A(i)    A(i): !c, g
std::vector<ReadAdjoint> adjoint_reads(const ExprPtr& value, const ExprPtr& result, const Guarded& adjoint,
                                       const std::set<std::string>& active, const UnknownDerivative& unknown);

}  // namespace tc::autodiff
