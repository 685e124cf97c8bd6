#pragma once

#include <set>
#include <string>

#include "tc/halide_bridge/lower/program.h"

namespace tc::halide_bridge {

/// \p program with updates by min, max, && and || without iterators that change neither their value nor their target: to join a
/// value once is to join it often. Iterators whose number of values symbolic sizes decide stay, and those of \p named.
///
///   before  S1[e,i,d]: T(e) max= select(P(i) == e, i, lowest)      after  S1[e,i]: T(e) max= select(P(i) == e, i, lowest)
Program drop_idle_iterators(const Program& program, const std::set<std::string>& named);

}  // namespace tc::halide_bridge
