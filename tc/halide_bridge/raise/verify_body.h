#pragma once

#include <Halide.h>

#include <cstdint>

#include "tc/halide_bridge/lower/program.h"
#include "tc/polyhedral/generate/generate.h"

namespace tc::halide_bridge {

/// The law of a raised statement, `body accesses`: run from the same memory, \p body leaves in every element what the AST
/// leaves there, whose accesses are the scop's (verify_ast.h), and reads nothing outside of a tensor.
///
/// Both are run, loop by loop and lane by lane, on symbols in place of values: the symbol that a store leaves stands for
/// the set of symbols that its value was computed from, so that an element says through which elements, read and written
/// when, it came about, whatever was computed with them. Addresses, bounds and conditions on iterators are computed; where
/// a condition depends on data, both of its arms count. So a wrong address, lane, mask, guard or order shows, whatever
/// the values of tensors; a wrong operation does not.
///
/// Throws InternalError that names the law and an element. The AST is for one thread (no parameters). Programs of more
/// than \p most_runs statement instances are accepted as they are; so are those that choose statements by data.
void verify_body(const Halide::Internal::Stmt& body, const polyhedral::Ast& ast, const polyhedral::Scop& scop,
                 const Program& program, std::int64_t most_runs = 4000);

}  // namespace tc::halide_bridge
