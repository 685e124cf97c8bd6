#pragma once

#include "tc/lang/check/check_def.h"
#include "tc/lang/check/scope.h"

/// Checks statements for check_def. Private to the checker.
namespace tc::lang {

/// A tensor whose first value is a literal (O(i) = 0) takes the type of its first value that is none. `adapted` holds
/// the types found so far; a new one goes to `wanted`, and the def is checked again.
struct StatementContext {
  Scope& scope;
  const FindDef& find;
  const TypeMap& adapted;
  TypeMap& wanted;
};

/// \p assignment resolved and typed; its target's state is updated.
Assignment check_assignment(const Assignment& assignment, const StatementContext& context);
/// Checks the call at \p range and gives its results their types.
void check_call(const CallStatement& call, SourceRange range, const StatementContext& context);

/// ranges[i], or \p fallback where there are none.
SourceRange place(const std::vector<SourceRange>& ranges, std::size_t i, SourceRange fallback);

}  // namespace tc::lang
