#pragma once

#include "tc/lang/syntax/tree.h"
#include "tc/proof/text_program.h"

namespace tc::proof {

/// The law `ranges`: the ranges that evidence gives are those of the text, which the compiler infers. Parameters, declared returns and
/// ranges of `where` have the sizes that the text says; each access is inside of its tensor; the first assignment of a tensor
/// writes all of it; and no range that is inferred could be larger by one on either side. Throws Refusal and Undecided.
void check_ranges(isl::ctx ctx, const lang::Def& def, const lang::SizeMap& sizes, const GivenRanges& ranges,
                  const TextProgram& text);

}  // namespace tc::proof
