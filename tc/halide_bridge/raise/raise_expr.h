#pragma once

#include <Halide.h>

#include <map>
#include <string>

#include "tc/halide_bridge/stmt/bounded.h"
#include "tc/polyhedral/core/isl.h"

namespace tc::halide_bridge {

/// Iterators of an isl AST and what stands for them; the variables of the loops around stand for themselves.
using Environment = std::map<std::string, Bounded>;

/// An integer AST expression as a Halide expression; isl's divisions round down, as Halide's.
///
///   before  (c0 + 3) / 4 with c0 -> x in [0, 9]      after  (x + 3) / 4 in [0, 3], 32-bit
Bounded raise_integer(const isl::ast_expr& expr, const Environment& environment);

/// An AST condition.
Halide::Expr raise_condition(const isl::ast_expr& expr, const Environment& environment);

}  // namespace tc::halide_bridge
