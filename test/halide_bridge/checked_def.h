#pragma once

#include <string>

#include "tc/lang/check/check.h"
#include "tc/lang/syntax/parse.h"

namespace tc::halide_bridge {

/// The first def of \p text, checked.
inline lang::Def checked_def(const std::string& text) { return lang::check(lang::parse(text)).defs.at(0); }

}  // namespace tc::halide_bridge
