#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tc/lang/syntax/tree.h"

namespace tc::lang {

/// A call that closes a circle: "f, g, f" and where the last of them calls the first.
struct CallCycle {
  std::vector<std::string> names;
  SourceRange call;
};

/// The positions of all \p defs, callees before their callers, else in the order of the text; of several defs of one
/// name, calls mean the first. Calls that close a circle are left out of account and added to \p cycles.
std::vector<std::size_t> callees_first(const std::vector<Def>& defs, std::vector<CallCycle>& cycles);

}  // namespace tc::lang
