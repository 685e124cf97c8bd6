#pragma once

#include <map>
#include <string>

#include "tc/derive/form/program.h"

namespace tc::derive {

/// \p program without the temporaries that \p duplicates names: each has the definition of an earlier tensor, which its readers read
/// instead. Throws Refusal where the definitions differ, or a duplicate is an output or in a loop.
///
///   S(n,j) +=! Q(n,k)*W(j,k)   T(n,j) +=! Q(n,k)*W(j,k)   O(n) +=! T(n,j)        S(n,j) +=! Q(n,k)*W(j,k)   O(n) +=! S(n,j)     T = S
Program without_duplicates(const Program& program, const std::map<std::string, std::string>& duplicates);

}  // namespace tc::derive
