#pragma once

#include <Halide.h>

#include <set>
#include <string>
#include <vector>

namespace tc::halide_bridge {

/// The names of the variables in \p exprs.
std::set<std::string> variable_names(const std::vector<Halide::Expr>& exprs);

}  // namespace tc::halide_bridge
