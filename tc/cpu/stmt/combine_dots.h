#pragma once

#include <Halide.h>

namespace tc::cpu {

/// Sums of products of bytes that stand side by side become dot products (lane function tc_dot_u8s8_i32), and columns
/// stored side by side one store.
///
///   before  c[ramp(0, 1, 16)] = c[...] + int32(x16(a[i]))     * int32(b[ramp(j, 4, 16)])
///           c[ramp(0, 1, 16)] = c[...] + int32(x16(a[i + 1])) * int32(b[ramp(j + 1, 4, 16)])       and + 2, + 3
///   after   c[ramp(0, 1, 16)] = tc_dot_u8s8_i32(c[...], x16(a[i .. i + 3]), b[ramp(j, 1, 64)])
///
///   before  b[ramp(j, 4, 16)] = x   b[ramp(j + 1, 4, 16)] = y   b[ramp(j + 2, 4, 16)] = z   b[ramp(j + 3, 4, 16)] = w
///   after   b[ramp(j, 1, 64)] = interleave(x, y, z, w)            also two columns of words
///
/// One factor is unsigned, the other signed. The sums are the same: integers wrap in any order. Values that are stored
/// together must not read the buffer.
Halide::Internal::Stmt combine_dots(const Halide::Internal::Stmt& body);

}  // namespace tc::cpu
