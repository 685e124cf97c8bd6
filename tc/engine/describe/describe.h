#pragma once

#include <string>
#include <vector>

#include "tc/engine/define/function.h"

namespace tc::engine {

/// The boxes of \p function's statements for \p sizes, one line a statement: "O(i): i in [0, 4), k in [0, 3)".
std::vector<std::string> describe_ranges(const Function& function, const lang::SizeMap& sizes);
/// The same of each node, behind the call that it is: "A = fc(X, W): Y(n,k): n in [0, 4), k in [0, 3), c in [0, 5)".
std::vector<std::string> describe_ranges(const graph::Graph& graph);
/// The conditions on sizes that a call is checked for: "H >= KH: subscript 0 of I ...".
std::vector<std::string> describe_preconditions(const Function& function);
/// Those of the defs that \p graph calls, each once: "conv: H >= KH: ...".
std::vector<std::string> describe_preconditions(const graph::Graph& graph);
/// The def as the user wrote it.
std::string source_text(const Function& function);

}  // namespace tc::engine
