#pragma once

#include <vector>

#include "tc/base/cancellation.h"
#include "tc/base/error.h"
#include "tc/lang/syntax/tree.h"

namespace tc::lang {

/// \p file with every name resolved, every expression typed and every conversion written as a Cast.
/// Checks all of the language but ranges. Warnings are appended to \p warnings when it is not null, errors or not.
/// Throws SemanticError with the errors of all defs, as many as Diagnostics takes; CancelledError and ResourceError as
/// \p cancellation says.
File check(const File& file, std::vector<Diagnostic>* warnings = nullptr, const Cancellation& cancellation = {});

/// \p def, which calls none, resolved and typed; its places are in the text of \p file. Throws SemanticError, and what \p cancellation
/// says.
Def check_alone(const Def& def, const File& file, const Cancellation& cancellation = {});

/// \p def, which may call the defs of \p others, a checked file, resolved and typed like these; its places are in their
/// text. Throws SemanticError.
Def check(const Def& def, const File& others);

}  // namespace tc::lang
