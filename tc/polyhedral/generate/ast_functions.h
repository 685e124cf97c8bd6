#pragma once

#include "tc/polyhedral/core/isl.h"

/// Expressions of an AST read back as isl's objects. Iterators of loops are parameters: [c0, c1] -> { [(8c0 + c1)] }.
namespace tc::polyhedral {

/// The values of \p expr, an integer, for all values of the iterators.
isl::pw_aff value_function(const isl::ast_expr& expr);
/// The iterators for which \p expr, a condition, holds.
isl::set condition_set(const isl::ast_expr& expr);
/// [c] -> { name[e0, e1] }: the arguments of \p expr, a call or an access, from number \p first on; `name` is that of
/// its first argument.
isl::set argument_tuple(const isl::ast_expr& expr);
/// The iterators that a loop runs through, where \p around runs.
isl::set iterations(const isl::ast_node_for& loop, const isl::set& around);

}  // namespace tc::polyhedral
