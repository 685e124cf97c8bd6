#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tc/lang/syntax/tree.h"

namespace tc::layout {

/// A read before and after.
struct ReadPair {
  lang::ExprPtr before, after;
};

/// The reads of \p before and \p after in order, if they are one value, trees as the parser gives them, with names of \p before
/// replaced by expressions with the texts \p names and tensors by \p tensors; subscripts are not compared. Nothing if they are
/// not.
std::optional<std::vector<ReadPair>> same_value(const lang::ExprPtr& before, const lang::ExprPtr& after,
                                                const std::map<std::string, std::string>& names,
                                                const std::map<std::string, std::string>& tensors);

}  // namespace tc::layout
