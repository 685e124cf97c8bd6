#pragma once

#include <Halide.h>

#include "tc/halide_bridge/raise/raise_expr.h"
#include "tc/polyhedral/generate/generate.h"

namespace tc::halide_bridge {

/// What stands below the mark `unit` at \p node: the instances of one statement that a warp's unit for matrices computes
/// (Statement::unit). Fragments of both operands are loaded, then multiplied:
///
///   before  unroll for (c0 < 4) for (c1 < 8) { 2 x 2 elements of C of one thread, 16 steps }: C[..] += A[..] * B[..]
///   after   unroll for (r < 4) tc_load_matrix_4(fragment_A + 4 r, &A[row of this lane])
///           unroll for (c < 4) tc_load_matrix_4_transposed(fragment_B + 4 c, &B[...])
///           unroll for (r < 4) for (c < 8) tc_multiply_m16n8k16_bf16(C[..], C[..], C[..], C[..], fragment_A + 4 r, fragment_B + 2 c)
///
/// The address of a row is that of the thread's own element with its digits replaced by those of the row, because operands
/// lie evenly in shared memory below the mark. They are transposed while they are loaded where they are contiguous along
/// rows or columns. Throws InternalError where the tile is not whole.
///
/// A group of warps reads operands where they lie (MatrixUnit::from_shared):
///
///   after   unroll for (k < 4) tc_multiply_m64n64k16_bf16(C[..], pitch, 0, 0, tc_matrix(A[..], 0, 1024) + 2 k, tc_matrix(B[..], 0, 1024) + 2 k)
Halide::Internal::Stmt raise_unit(const isl::ast_node& node, const polyhedral::Ast& ast, const polyhedral::Scop& scop,
                                  const Environment& environment);

}  // namespace tc::halide_bridge
