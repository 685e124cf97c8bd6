#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tc/lang/syntax/tree.h"

/// Questions about a statement, and parts of it written anew, for a text whose sizes are numbers.
namespace tc::graph {

/// Does \p statement, a call or an assignment, read \p tensor, in a clause too?
bool reads(const lang::Statement& statement, const std::string& tensor);

/// Does the value of \p statement or a clause mention \p iterator?
bool bounds(const lang::Assignment& statement, const std::string& iterator);

/// Has \p iterator a range in a clause of \p statement?
bool is_given(const lang::Assignment& statement, const std::string& iterator);
/// Has \p statement an iterator without a range in a clause, a condition, and a subscript that is not an iterator alone?
/// What ranges it takes may then depend on whether the condition is proved to keep that subscript inside its tensor.
bool has_open_conditions(const lang::Assignment& statement);

/// \p value as the text has it, with a minus where it is negative.
lang::ExprPtr literal(std::int64_t value);
/// A size, an int64 wherever it stands.
lang::ExprPtr size_value(std::int64_t value);
/// \p bound with its sizes as literals: it has no conversions.
lang::ExprPtr plain_sizes(const lang::ExprPtr& bound);

/// \p expr with its reads of tensors that begin at \p mins moved there.
///
///   before  T(i, j - 1)      after, T beginning at (-2, 3)  T(i - 2, j - 1 + 3)
lang::ExprPtr with_moved_reads(const lang::ExprPtr& expr, const std::map<std::string, std::vector<std::int64_t>>& mins);

}  // namespace tc::graph
