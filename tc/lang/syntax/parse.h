#pragma once

#include <string>
#include <vector>

#include "tc/base/cancellation.h"
#include "tc/base/error.h"
#include "tc/lang/syntax/tree.h"

namespace tc::lang {

/// The tree of \p text. \p name appears in messages ("file:line:column").
/// Recovers from errors at statement and def boundaries; throws SyntaxError with all of them, as many as Diagnostics
/// takes, and for a text beyond limits.h; CancelledError and ResourceError as \p cancellation says. Warnings are appended to
/// \p warnings where it is not null.
File parse(const std::string& text, const std::string& name = "<tc>", const Cancellation& cancellation = {},
           std::vector<Diagnostic>* warnings = nullptr);

/// One expression, for tests and tools.
ExprPtr parse_expr(const std::string& text);

}  // namespace tc::lang
