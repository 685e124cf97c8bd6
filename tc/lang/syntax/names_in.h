#pragma once

#include <set>
#include <string>

#include "tc/lang/syntax/tree.h"

namespace tc::lang {

/// The iterators, sizes and lets in \p expr.
std::set<std::string> names_in(const ExprPtr& expr);

}  // namespace tc::lang
