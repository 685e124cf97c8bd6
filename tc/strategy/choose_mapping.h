#pragma once

#include "tc/base/target.h"
#include "tc/polyhedral/mapping.h"
#include "tc/polyhedral/options.h"
#include "tc/polyhedral/scop.h"

namespace tc::strategy {

/// How to map \p scop, scheduled by compute_schedule, to \p target, without measuring. \p options restrict the choice.
///
/// One rule over accesses and limits, the same for every operation: the iterator along which most accesses are contiguous or
/// constant becomes the lanes; a reduction with reuse along two outer members gets the register tile that does most arithmetic
/// a load within the vector registers; the first outer member with enough iterations runs on the threads, in blocks
/// that are worth one.
polyhedral::Mapping choose_mapping(const polyhedral::Scop& scop, const Target& target,
                                   const polyhedral::MappingOptions& options);

}  // namespace tc::strategy
