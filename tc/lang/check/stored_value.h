#pragma once

#include "tc/lang/check/check_statement.h"
#include "tc/lang/check/type_expr.h"

namespace tc::lang {

/// \p value, that of the right-hand side of \p assignment, in the type of the target, which its first value decides; the
/// target's state is updated. Null after a report, and where \p value had an error.
///
///   before  O(i) = A(i), A of int32      after  O of int32      before  O(i) = 1, O of float32      after  1.0f
ExprPtr stored_value(const Assignment& assignment, const Typed& value, const StatementContext& context);

}  // namespace tc::lang
