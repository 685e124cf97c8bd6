#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "tc/lang/diagnostics.h"
#include "tc/lang/tree.h"

/// Checks one def for check. Private to the checker.
namespace tc::lang {

/// The checked def of a name; null if it has errors or a call of it would recurse (then reported at the call's place).
using FindDef = std::function<const Def*(const std::string& name, SourceRange call)>;

/// \p def resolved and typed, see check.h. \p defs are the names of all defs of the file; errors and warnings go to
/// \p diagnostics. The result is complete only if no error was added.
Def check_def(const Def& def, const std::set<std::string>& defs, const FindDef& find, Diagnostics& diagnostics);

}  // namespace tc::lang
