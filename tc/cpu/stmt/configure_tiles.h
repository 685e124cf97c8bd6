#pragma once

#include <Halide.h>

#include <vector>

namespace tc::cpu {

/// A call that gives the eight tiles these numbers of rows and bytes a row; 0: not used.
Halide::Internal::Stmt configure_call(const std::vector<Halide::Expr>& rows, const std::vector<Halide::Expr>& bytes);

/// Moves configurations out of what needs only one, and releases the tiles behind it.
///
///   before  for (i) { pack  for (j) { tc_tile_configure(r, l, h)  ... } }
///   after   tc_tile_configure(r, l, h)  for (i) { pack  for (j) { ... } }  tc_tile_release()
///
/// They stay within an iteration of a parallel loop: tiles belong to a thread. A configuration stands directly before
/// the statements that use it, in one block with them.
Halide::Internal::Stmt configure_tiles_once(const Halide::Internal::Stmt& body);

}  // namespace tc::cpu
