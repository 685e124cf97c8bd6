#pragma once

#include <string>

#include "tc/proof/verdict.h"

namespace tc::proof {

/// Of tc/proto/evidence.proto.
constexpr unsigned schema_version = 1;

/// How long the checker may think: operations of isl, some 10^7 a second.
struct Limits {
  unsigned long operations = 50'000'000;
};

/// Does \p evidence, the bytes of a proto::Evidence, prove that the loops of a kernel compute what its text means (laws.h)? The text
/// is parsed and read anew; nothing of the evidence is trusted but digests, which are compared where the code is at hand.
/// Never throws for evidence, whatever its bytes are.
Verdict check(const std::string& evidence, const Limits& limits = {});

}  // namespace tc::proof
