#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/tree.h"
#include "tc/polyhedral/core/isl.h"

/// Between TC's index expressions and isl's sets and functions over dimensions [i0, i1, ...].
namespace tc::derive {

/// "i0", ..., one for each of \p count dimensions from \p first on.
std::vector<std::string> dimension_names(int count, int first = 0);
/// "[i0, i1]".
std::string tuple_text(int count);

/// { [i0, ...] : i0 in box[0], ... }
isl::set box_set(isl::ctx ctx, const lang::Box& box);
/// { [i0, ...] -> [values[0], ...] } with \p values in isl's words over \p dimensions dimensions.
isl::multi_aff function(isl::ctx ctx, int dimensions, const std::vector<std::string>& values);
/// The dimensions \p kept of \p dimensions ones, in that order.
isl::multi_aff projection(isl::ctx ctx, int dimensions, const std::vector<int>& kept);
/// The least box around \p set, which is not empty and bounded.
lang::Box hull(const isl::set& set);
/// A box around \p set as its constraints state it, cheaper than the least one and at times larger.
lang::Box stated_box(const isl::set& set);
/// Does output \p output of \p function depend on dimension \p dimension?
bool depends(const isl::multi_aff& function, int output, int dimension);
/// Does any output?
bool depends(const isl::multi_aff& function, int dimension);
/// The factor of dimension \p dimension in output \p output, where it stands outside of divisions; 0 elsewhere.
std::int64_t factor(const isl::multi_aff& function, int output, int dimension);

/// An index expression over \p iterators as isl writes it. Throws Refusal for one that is not quasi-affine.
std::string index_text(const lang::ExprPtr& expr, const std::vector<std::string>& iterators);
/// { [i0, ...] : condition }. Throws Refusal for a condition on other things than indices.
isl::set condition_set(isl::ctx ctx, const lang::ExprPtr& expr, const std::vector<std::string>& iterators);

/// The inverse: outputs of \p function, and the members of \p set, as TC expressions over \p iterators.
std::vector<lang::ExprPtr> index_expressions(const isl::multi_aff& function, const std::vector<std::string>& iterators);
/// True for all indices: null.
lang::ExprPtr condition_expression(const isl::set& set, const std::vector<std::string>& iterators);

/// An integer as an expression.
lang::ExprPtr number(std::int64_t value);
/// \p a and \p b joined by `op`; either may be null.
lang::ExprPtr joined(const lang::ExprPtr& a, lang::BinaryOp op, const lang::ExprPtr& b);

/// Why a def, a step or a text is not taken; caught where one is tried.
struct Refusal {
  std::string why;
};

}  // namespace tc::derive
