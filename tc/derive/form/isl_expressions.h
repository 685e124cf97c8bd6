#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tc/lang/syntax/tree.h"
#include "tc/polyhedral/core/isl.h"

/// isl's sets and functions over dimensions [i0, i1, ...] as TC's index expressions.
namespace tc::derive {

/// The inverse of isl_text.h: outputs of \p function, and the members of \p set, as TC expressions over \p iterators.
std::vector<lang::ExprPtr> index_expressions(const isl::multi_aff& function, const std::vector<std::string>& iterators);
/// True for all indices: null.
lang::ExprPtr condition_expression(const isl::set& set, const std::vector<std::string>& iterators);

/// An integer as an expression.
lang::ExprPtr number(std::int64_t value);
/// \p a and \p b joined by `op`; either may be null.
lang::ExprPtr joined(const lang::ExprPtr& a, lang::BinaryOp op, const lang::ExprPtr& b);

}  // namespace tc::derive
