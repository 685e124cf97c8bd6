#pragma once

#include <optional>

#include "tc/lang/syntax/tree.h"

/// `exists j in low:high`: what an ExistsClause holds that checks a range whose bounds are data.
namespace tc::lang {

/// The parts of `exists index in low:high`. The clause demands that each bound that reads an element lies between the ends of the
/// range of `index`, both included, and that low <= high if both read elements.
struct RangeCheck {
  std::string index;
  ExprPtr low, high;
};

/// Does \p expr read an element of a tensor with dimensions?
bool reads_element(const ExprPtr& expr);

/// The value of the clause that checks \p range: a Call of `in`, which is a word of the language and therefore no function.
ExprPtr make_range_check(const RangeCheck& range, SourceRange place);
/// The range that \p value, of an ExistsClause, checks; nothing for other values.
std::optional<RangeCheck> as_range_check(const ExprPtr& value);

}  // namespace tc::lang
