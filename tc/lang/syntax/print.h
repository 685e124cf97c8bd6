#pragma once

#include <map>
#include <string>
#include <vector>

#include "tc/lang/syntax/tree.h"

namespace tc::lang {

/// \p expr as TC text with the fewest parentheses that parse back to it.
std::string print(const ExprPtr& expr);
std::string print(const Statement& statement);
/// A def, one statement a line, two blanks of indentation.
/// print is idempotent over parse, and parse(print(x)) equals x; what check made of a scatter prints as the scatter.
std::string print(const Def& def);
std::string print(const File& file);

/// \p def with every identifier renamed in order of appearance (i0, i1, ...; the def's own name too) and printed on one
/// line: equal for two programs that are equal up to renaming. The cache key.
std::string canonical_text(const Def& def);

/// The names that canonical_text gives to each identifier of \p def, in order of appearance: several to an iterator of
/// several statements.
std::map<std::string, std::vector<std::string>> canonical_names(const Def& def);

}  // namespace tc::lang
