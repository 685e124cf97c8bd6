#pragma once

#include <optional>

#include "tc/derive/form/program.h"

namespace tc::derive {

/// The value of an expression of literals as an element of \p type: the least and the largest of an integer type are
/// infinite. Nothing for other expressions.
std::optional<double> literal_value(const lang::ExprPtr& expr, DType type);
/// Is \p expr computed from literals alone, to the same number in whatever type? So is 0 + 0, not 1 / 3.
bool is_same_in_all_types(const lang::ExprPtr& expr);
/// \p expr, in which a product with 0 is 0.
lang::ExprPtr with_products_of_zero(const lang::ExprPtr& expr, DType type);
/// The inverse of literal_value(): an expression of literals that has \p value in \p type.
lang::ExprPtr literal(double value, DType type);

}  // namespace tc::derive
