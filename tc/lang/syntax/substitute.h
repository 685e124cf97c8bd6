#pragma once

#include <functional>
#include <map>
#include <string>

#include "tc/lang/syntax/tree.h"

namespace tc::lang {

/// What the names in a tree become.
struct Substitution {
  std::map<std::string, ExprPtr> values;       ///< iterators, sizes, lets
  std::map<std::string, std::string> tensors;  ///< new names
  /// The value of tensor.dimension, the tensor named as in the old tree; null keeps it, under the new name.
  std::function<ExprPtr(const std::string&, int)> size_of;
};

/// \p expr as the parser would give it (no types, no implicit casts, bare tensors as Names) with names replaced.
ExprPtr substitute(const ExprPtr& expr, const Substitution& substitution);

/// \p statement with names replaced, as the parser would give it, and its lets by their values. The value of a let that
/// is not used stays as an `exists` clause; one that computes in a narrow integer type keeps that type by a cast.
///
///   before  B(i) = A(i) * c + s where c = 2, d = A(i)       after  B(i) = A(i) * 2 + s where exists A(i)
Assignment substitute(const Assignment& statement, const Substitution& substitution);

/// Does the type of \p expr, checked, adapt to its surroundings: is it an integer of literals alone, or a float of literals and
/// integers alone?
bool has_literal_type(const ExprPtr& expr);

}  // namespace tc::lang
