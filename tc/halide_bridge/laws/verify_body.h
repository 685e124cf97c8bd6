#pragma once

#include <Halide.h>

#include <cstdint>

#include "tc/halide_bridge/laws/lock_step.h"
#include "tc/halide_bridge/lower/program.h"
#include "tc/polyhedral/generate/generate.h"

namespace tc::halide_bridge {

/// The law of a raised statement, `body accesses`: run from the same memory, \p body leaves in every element what the AST
/// leaves there, whose accesses are the scop's (verify_ast.h), and reads nothing outside of a tensor.
///
/// Both are run, loop by loop and lane by lane, by each of \p threads in its turn between the barriers and exchanges at
/// which they meet, on symbols in place of values: the symbol that a store leaves stands for the set of symbols that its
/// value was computed from, so that an element says through which elements, read and written when, it came about,
/// whatever was computed with them. Addresses, bounds and conditions on iterators are computed; where a condition
/// depends on data, both of its arms count. A buffer holds nothing where its allocation begins. So a wrong address, lane,
/// mask, guard, order, lifetime of a buffer or partner of an exchange shows, and a barrier that not all threads reach,
/// whatever the values of tensors; a wrong operation does not, nor that an
/// asynchronous copy is used before its wait (verify_kernel).
///
/// Symbolic sizes have their largest values in one run and their least in another.
/// Throws InternalError that names the law and an element. Of programs with more than \p most_runs statement instances,
/// or run by more threads than that, nothing is asked, nor of those that choose statements by data: false for them. Where
/// units multiply matrices the limit is 64 times as high.
bool verify_body(const Halide::Internal::Stmt& body, const polyhedral::Ast& ast, const polyhedral::Scop& scop,
                 const Program& program, const ThreadGrid& threads = {}, std::int64_t most_runs = 4000);

}  // namespace tc::halide_bridge
