#pragma once

#include "tc/lang/syntax/tree.h"

namespace tc::lang {

/// Is `...` written at \p expr, a subscript or a size of a declaration?
inline bool is_leading(const ExprPtr& expr) {
  const auto* name = std::get_if<Name>(&expr->node);
  return name && name->id == leading_name;
}

}  // namespace tc::lang
