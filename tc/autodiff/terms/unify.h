#pragma once

#include <optional>
#include <set>
#include <string>

#include "tc/autodiff/terms/expressions.h"

namespace tc::autodiff {

/// What \p variables, names in \p pattern, must be replaced by to give \p expr; \p known are those that have a value.
/// Nothing if no replacement does.
std::optional<Renaming> unify(const ExprPtr& pattern, const ExprPtr& expr, const std::set<std::string>& variables,
                              Renaming known = {});

/// \p expr with its indices left out: expressions that unify() makes equal have one outline.
///
///   A(i, k + 1) * exp(B(k))     A*exp(B)
std::string outline(const ExprPtr& expr);

}  // namespace tc::autodiff
