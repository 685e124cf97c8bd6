#pragma once

#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

/// Expression splitting: the elements of \p tensor whose index \p dimension is below \p at, and the others, become tensors
/// of their own.
///
///   before  O(x) = f(x), x in 0:9        after  T(x) = f(x), x in 0:4   U(x) = f(x), x in 4:9   O(x) = x < 4 ? T(x) : U(x)
///
/// Throws Refusal where one side would be empty.
Step split_expression(const Program& program, const std::string& tensor, int dimension, std::int64_t at);

/// The splits where one case of a scope ends and another begins.
std::vector<Step> expression_splits(const Program& program);

}  // namespace tc::derive
