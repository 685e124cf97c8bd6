#pragma once

#include <string>

namespace tc::cpu {

/// Functions of registers for small matrices (Target::matrix_tiles), the tiles 0 to 7, as a module of LLVM IR to be
/// inlined. The numbers of tiles are parts of the names, as instructions have them. A row of a tile has up to 64 bytes:
///
///   tc_tile_configure(rows, low, high)    bytes of `rows` are the rows of tiles 0 to 7, words of `low` and `high` their bytes a row;
///                                         their contents become undefined
///   tc_tile_release()                     no tile has contents
///   tc_tile_zero_<t>()                    tile t = 0
///   tc_tile_load_<t>(p, i, s)             tile t from the rows at i, i + s, ... bytes behind p
///   tc_tile_pass_<t>(p, i, s)             the same for rows that are not to push others out of the first cache
///   tc_tile_store_<t>(p, i, s)            the same rows from tile t
///   tc_tile_load_part_<t>(p, i, s, n, m, l)
///                                         n rows, of which only the bytes in the mask m are touched, of the last one those in l;
///                                         the others are 0
///   tc_tile_multiply_<kind>_<c>_<a>_<b>() c(m, n) += sum over k < K, q < w of a(m, w k + q) b(k, w n + q)
///
/// c is one of tiles 0 to 3, a of 4 to 6, b of 5 to 7. Kinds: bf16 (w = 2, sums in float32, denormals are 0); ss, su,
/// us, uu: signed or unsigned bytes (w = 4, sums in int32 that wrap).
std::string tile_functions();

/// Whether \p name is one of these.
bool is_tile_function(const std::string& name);

}  // namespace tc::cpu
