#pragma once

#include <set>
#include <string>

#include "tc/derive/form/program.h"

namespace tc::derive {

/// Is \p tensor defined by earlier elements of itself in \p after, in a loop, and not so in \p before?
bool needs_induction(const Program& before, const Program& after, const std::string& tensor);

/// \p after, where the definition of \p tensor reads, in place of earlier elements of itself, the tensor `closed_form(tensor)`, which is
/// what \p before, of tensors \p common, defines \p tensor as:
///
///   before  L(b) +=! a(j) where j < b + 1                 L(b) +=! a(j) where j < b + 1
///   after   L(b) = b >= 1 ? L(b - 1) + a(b) : a(0)        L(b) = b >= 1 ? L'(b - 1) + a(b) : a(0)     L'(b) +=! a(j) where j < b + 1
///
/// If both definitions are then equal, L is the same in both programs, by induction over the iterations of the loop. Throws Refusal where the
/// definition in \p before has no one form.
Program with_induction(const Program& before, const Program& after, const std::string& tensor,
                       const std::set<std::string>& common);

/// The name of the tensor that stands for earlier elements; no text has it.
std::string closed_form(const std::string& tensor);

}  // namespace tc::derive
