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
/// \p call, at \p range, of the def that it means: of a generic one, the instance for its arguments. Its results get their types.
CallStatement check_call(const CallStatement& call, SourceRange range, const StatementContext& context);

/// ranges[i], or \p fallback where there are none.
SourceRange place(const std::vector<SourceRange>& ranges, std::size_t i, SourceRange fallback);

}  // namespace tc::lang
