#pragma once

#include <Halide.h>

namespace tc::cpu {

/// Small products of matrices, written as loops, become operations of registers for matrices (tile_functions.h).
/// Accumulators stay in tiles while loops repeat products into the same place, and start there as zeros where the
/// statements before store zeros.
///
///   before  c[ramp(0, 1, 16)] = 0  ...
///           for (k, 0, 32) for (m, 0, 16) for (n, 0, 16) for (q, 0, 32)
///             c[m*16 + n] = c[m*16 + n] + f(a[m*1024 + k*32 + q]) * f(b[(k*16 + q/2)*32 + n*2 + q%2])
///   after   tc_tile_configure(...)  tc_tile_zero_0()
///           for (k, 0, 32) { tc_tile_pass_7(b, k*1024, 64)  tc_tile_load_4(a, k*64, 2048)  tc_tile_multiply_bf16_0_4_7() }
///           tc_tile_store_0(c, 0, 64)  tc_tile_release()
///
/// Factors are both bfloat16, widened (f), or both bytes, cast to int32. The steps q of `a` are contiguous, those of
/// `b` stand side by side as far as one lane sums them. Up to 16 rows, columns and 64 bytes of steps are one
/// instruction; there are up to four accumulators, 2 x 2 or in a row; the tiles of `b` pass by the first cache, where
/// those of `a` stay for the next columns. The numbers of rows and columns may be expressions. Steps that fill no tile
/// are loaded under masks: what lies beside is not touched. Tiles are configured once for the outermost statement in
/// which they have one shape, within each iteration of a parallel loop.
Halide::Internal::Stmt multiply_tiles(const Halide::Internal::Stmt& body);

}  // namespace tc::cpu
