#pragma once

#include <optional>

#include "tc/lang/interpret/ranges.h"

namespace tc::derive {

/// The ranges of \p def, which was checked and has no calls, where it states all of them as numbers and writes each tensor once, as
/// to_text() prints programs. That reads stay inside is not looked at. Nothing for another def.
///
///   def f(float32(3, 4) A) -> (O) { O(x) +=! A(x, r) where x in 0:3, r in 0:4 }      x, r; A: 0:3, 0:4; O: 0:3
std::optional<lang::Ranges> stated_ranges(const lang::Def& def);

}  // namespace tc::derive
