#pragma once

#include <Halide.h>

#include <set>
#include <string>

namespace tc::cpu {

/// \p body with whole vectors that go to one of \p tensors, in lines of the cache, stored under another name, of which
/// emit_prepared makes stores past the caches: where such a vector begins a line, which the machine code asks each time. A tensor of
/// which more than one store in 32 is of a part of a line, as at the ends of short rows, is stored as it was: some lines past the
/// caches, their neighbours in them, take up to three times as long.
///
///   before  y[ramp(i*16, 1, 16)] = v
///   after   let y'streamed = y in { y'streamed[ramp(i*16, 1, 16)] = v }
Halide::Internal::Stmt stream_stores(const Halide::Internal::Stmt& body, const std::set<std::string>& tensors);

/// Is \p buffer a name that stream_stores gives?
bool is_streamed(const std::string& buffer);

}  // namespace tc::cpu
