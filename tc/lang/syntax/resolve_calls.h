#pragma once

#include <vector>

#include "tc/lang/syntax/tree.h"

namespace tc::lang {

/// Tells calls of functions from element reads by name: `A = f(X)` becomes a CallStatement exactly if \p defs, all
/// defs of a file, hold an f, and `min(i)` reads an element exactly if the def has a tensor of that name. Private to the
/// parser.
void resolve_calls(std::vector<Def>& defs);

}  // namespace tc::lang
