#pragma once

#include <string>
#include <vector>

#include "tc/lang/check/check_statement.h"
#include "tc/lang/check/type_expr.h"

/// Scatters: reductions whose left-hand subscripts are expressions. Private to the checker.
namespace tc::lang {

/// A left-hand subscript that is an expression, and the index that takes its place.
struct ScatteredDimension {
  std::size_t dimension;
  ExprPtr subscript;
  std::string index;
};

/// The subscripts of \p assignment, a reduction, that are no indices, each with an index that neither the statement nor
/// \p scope, with the names that its lets have, knows.
std::vector<ScatteredDimension> scattered_dimensions(const Assignment& assignment, const Scope& scope);

/// \p value, that of the scatter \p in, where \p subscripts (typed) say that it goes to the element of \p indices, else the
/// identity of the operator.
///
///   before  T(I(l), d) += X(l, d)      after  I(l) == p ? X(l, d) : 0
Typed value_where_scattered(const Assignment& in, const Typed& value, const std::vector<ExprPtr>& subscripts,
                            const std::vector<ExprPtr>& indices, const StatementContext& context);

}  // namespace tc::lang
