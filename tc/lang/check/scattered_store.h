#pragma once

#include <set>
#include <string>
#include <vector>

#include "tc/lang/check/scope.h"

/// Stores at left-hand subscripts that are expressions. Private to the checker.
namespace tc::lang {

/// \p statement, as the parser gives it, as statements that the language has without such stores; {\p statement} if it is none. Of several
/// instances that name one element the last one wins, in the order in which its iterators occur on the left:
///
///   before  Y(p(i), d) = X(i,d)
///   after   Y_at(q) max=! lowest where exists Y(q,d)
///           Y_at(p(i)) max= i where exists Y(p(i),d), exists X(i,d)
///           Y(q,d) = Y_at(q) != lowest ? X(Y_at(q),d) : Y(q,d)
///
/// Further iterators have tensors of their own, Y_at_1(p(i,k)) max= Y_at(p(i,k)) == i ? k : lowest. \p taken, the names that \p statement
/// may not give to tensors, gets theirs. If the target is a return with sizes that has no values yet, Y(q,d) = Y(q,d) comes first: it takes
/// those of the caller's tensor. Statements of loops, and those of other targets without values, stay as they are: they are errors.
std::vector<Statement> without_scattered_store(const Statement& statement, const Scope& scope,
                                               std::set<std::string>& taken);

}  // namespace tc::lang
