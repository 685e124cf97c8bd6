#pragma once

#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/tree.h"

namespace tc::autodiff {

/// A text of one def, checked, and its ranges.
struct Understood {
  lang::File file;
  lang::Ranges ranges;

  const lang::Def& def() const { return file.defs.front(); }
};

/// \p def, which was made by hand, as its text is understood. Throws SyntaxError and SemanticError as parser, checker and
/// inference do.
Understood understand(const lang::Def& def);

/// As understand(), without the clauses of `where` that inference finds by itself.
Understood understand_briefly(const lang::Def& def);

}  // namespace tc::autodiff
