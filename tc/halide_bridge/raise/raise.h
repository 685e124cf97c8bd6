#pragma once

#include <Halide.h>

#include <set>
#include <string>

#include "tc/halide_bridge/lower/program.h"
#include "tc/polyhedral/generate/generate.h"

namespace tc::halide_bridge {

/// What the machine that runs a statement wants of it.
struct RaiseOptions {
  /// For a kernel whose text is read by people and unrolled by its compiler: loops that the mark `register` speaks of
  /// stay loops, as ForType::Unrolled; loops are named after iterators of statements, "k$3", "k_outer$3" for one whose
  /// steps k takes several at a time, "k_inner$3" for one that is a part of k.
  bool as_kernel = false;
};

/// The loop nest \p ast of \p scop as a Halide statement over flat buffers named after the tensors.
///
///   before  for (c0 ...) mark vector: for (c1 = 0; c1 < 16; ...) S1(c0, 16*c2 + c1)
///   after   for (c0, ...) C[ramp(c0*N + 16*c2, 1, 16)] = ...
///
/// Marks decide: `parallel` makes a parallel loop, `register` unrolls (see marks.h), `vector` turns the iterator into a
/// Ramp (accesses to tensors that are not padded are predicated in a partial vector), `allocate_x` a stack or heap
/// Allocate, in a kernel one in shared memory or registers; parameters of the schedule are free variables, a barrier is
/// a call of its name. A guarded read is predicated by its guard, never executed where the guard is false. Address
/// arithmetic is 32-bit where the bounds of loops and tensors prove it exact, else 64-bit. bool is stored as uint8,
/// halves are converted at loads and stores. Symbolic sizes and strides that a run
/// tells are free variables too (run_values.h). Addresses and bounds are simplified; values are not, for Halide's
/// simplifier treats floats as real numbers. LLVM hoists loop invariants.
Halide::Internal::Stmt raise(const polyhedral::Ast& ast, const polyhedral::Scop& scop, const Program& program,
                             const RaiseOptions& options = {});

/// The names of the buffers \p body loads from and stores to.
std::set<std::string> buffer_names(const Halide::Internal::Stmt& body);

}  // namespace tc::halide_bridge
