#pragma once

#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_space.h"

namespace tc::polyhedral {

/// The values of \p digit, of an index that takes \p extent.
///
///   of 100 values   n/48: 3   n%48/16: 3   n%16: 16
std::int64_t values_of(const Digit& digit, std::int64_t extent);

/// \p nest without loops of one iteration, which mean nothing where they stand: those in lanes, with private sums, that slide,
/// or have copies stay, and threads that take runs.
///
///   before, 4 of n   n/48 on cores   n%48/4   n%4      after   n
Nest without_idle_loops(const NestSpace& space, const Nest& nest);

}  // namespace tc::polyhedral
