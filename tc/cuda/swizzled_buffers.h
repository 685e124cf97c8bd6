#pragma once

#include <Halide.h>

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "tc/base/shared_banks.h"

namespace tc::cuda {

/// The buffers that \p body describes to units of groups of warps (tc_matrix), which say how such a buffer lies.
std::set<std::string> described_buffers(const Halide::Internal::Stmt& body);

/// \p body, of blocks of \p block threads, with the elements of the shared buffers \p swizzles names where their swizzles
/// put them. What the ranges of threads and loops tell is taken into account, so that elements of a piece which an
/// unrolled loop reads side by side are seen to stand side by side:
///
///   before  s[64 x + 4 thread_y + y], y < 4, 16 threads      after  s[4 (16 x + thread_y xor floor(x / 4) mod 8) + y]
Halide::Internal::Stmt swizzled(const Halide::Internal::Stmt& body, const std::map<std::string, Swizzle>& swizzles,
                                const std::array<std::int64_t, 3>& block);

}  // namespace tc::cuda
