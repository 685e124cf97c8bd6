#pragma once

#include "tc/lang/check/scope.h"

namespace tc::lang {

/// Reports an expression of \p assignment that is too large or too deep with the names of `where` written out, and gives
/// false then.
bool check_measure(const Assignment& assignment, Scope& scope);

}  // namespace tc::lang
