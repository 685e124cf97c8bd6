#pragma once

#include <string>

#include "tc/polyhedral/core/isl.h"

namespace tc::polyhedral {

/// Throws the InternalError that says which \p law does not hold, \p what breaks it, and in which schedule.
[[noreturn]] void broken_law(const char* law, const std::string& what, const isl::schedule& schedule);

/// The first pair of \p relation, not empty, as text: "S[0] -> T[1, 2]".
std::string first_pair(const isl::union_map& relation);

}  // namespace tc::polyhedral
