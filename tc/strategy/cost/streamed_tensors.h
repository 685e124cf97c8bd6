#pragma once

#include <set>
#include <string>

#include "tc/base/target.h"
#include "tc/polyhedral/core/scop.h"

namespace tc::strategy {

/// The tensors of \p scop, mapped, whose elements are stored past the caches of \p target: what a run touches does not fit
/// the last cache, so that what it writes is gone from there before anyone asks for it, and an ordinary store first reads
/// the line that it writes to. Of these the tensors of the caller that one statement writes, once each element, that no
/// statement reads, and that are larger than the second cache.
///
///   C(m, n) = A(m, n) + B(m, n)      4096 x 4096, last cache 32 MiB: C; 1024 x 1024: none
///   s(n) +=! A(m, n)                 none: s is read again
std::set<std::string> streamed_tensors(const polyhedral::Scop& scop, const Target& target);

}  // namespace tc::strategy
