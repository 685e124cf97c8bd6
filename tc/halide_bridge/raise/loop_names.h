#pragma once

#include <functional>
#include <string>

#include "tc/halide_bridge/lower/program.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/generate/generate.h"

namespace tc::halide_bridge {

/// Calls \p function for each place below \p node where a statement or barrier stands, in order.
void for_each_site(const polyhedral::Ast& ast, const isl::ast_node& node,
                   const std::function<void(const polyhedral::Site&)>& function);

/// What the name of a loop depends on.
struct LoopShape {
  std::string iterator;
  isl::ast_node body;
  std::int64_t increment = 1;
  bool from_zero = true;
};

/// The user's iterator that \p loop runs over, by the first statement below it that says so, with "_outer" or "_inner"
/// where the loop makes up a part of it; the loop's own iterator where there is none.
///
///   for (c0 = 0; c0 < 64; c0 += 8) for (c1 = 0; c1 < 8; c1++) S(c0 + c1)      with S[i]:  i_outer, i_inner
std::string loop_name_for_users(const LoopShape& loop, const polyhedral::Ast& ast, const polyhedral::Scop& scop,
                                const Program& program);

}  // namespace tc::halide_bridge
