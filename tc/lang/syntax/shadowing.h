#pragma once

#include <set>
#include <string>

#include "tc/lang/syntax/tree.h"

/// Tensors that have the name of a built-in function. Within a def such a name means the tensor; the function is written with
/// `tc.` before its name.
namespace tc::lang {

/// The tensors of \p def that have the name of a built-in function.
std::set<std::string> shadowing_tensors(const Def& def);

/// \p def, as parsed, with reads of its tensors in the places of calls of functions whose names they have.
///
///   before  call min(i)  where min is a parameter        after  the element min(i)
void read_shadowing_tensors(Def& def);

/// \p def with `tc.` before the functions whose names its tensors have, so that its text means the same.
Def with_qualified_calls(Def def);

}  // namespace tc::lang
