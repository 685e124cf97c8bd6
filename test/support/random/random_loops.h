#pragma once

#include <cstdint>

#include "test/support/program_file.h"

namespace tc::test {

/// A random def with loops whose iterations run in order, and sizes to run it with, the same for one \p seed. Its numbers are
/// integers, which wrap: results are exact in any order that the program allows.
///
///   for t in 0:T { A0(t,n) = int32(X(t,n) + (t >= 2 ? A1(N - 1 - n, t - 2) : V(n)))
///                  A1(n,t) +=! int32(B(n,m) * A0(t, (n + 1) % N)) }
ProgramFile random_loops(std::uint64_t seed);

}  // namespace tc::test
