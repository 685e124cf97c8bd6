#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tc/lang/syntax/tree.h"

namespace tc::engine {

/// Pairs (parameter, return) of \p def (checked, without calls and lets) that may be one tensor, element for element:
/// the return is written by one plain assignment, and the parameter is read only there, at the subscripts that are
/// written.
///
///   O(i,j) = I(i,j) * 2: (I, O)          O(i,j) = I(j,i): none          O(i) = I(i)  P(i) = I(i): none
std::vector<std::pair<std::string, std::string>> in_place_pairs(const lang::Def& def);

}  // namespace tc::engine
