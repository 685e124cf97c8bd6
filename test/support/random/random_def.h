#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/tree.h"
#include "test/support/random/random_program.h"
#include "test/support/random/random_value.h"

/// One random def; the middle part of random_program.
namespace tc::test {

/// The sizes a random program may have.
inline const std::vector<std::int64_t> all_sizes = {0, 1, 2, 3, 5, 7, 16, 17, 31, 33, 64, 127};

/// A callee and what is known of it.
struct KnownDef {
  lang::Def def;
  std::vector<KnownTensor> params, returns;
};

/// What the def shall be.
struct DefRequest {
  std::string name;
  std::string tensor_prefix;  ///< "T": T0, T1, ...
  lang::SizeMap sizes;
  std::vector<KnownDef> callees;
  int statements = 1;
  bool parts = false;     ///< most statements assign again, to parts of a tensor
  bool scatters = false;  ///< half of the reductions into a tensor that is there write where values say
  bool ragged = false;    ///< half of the reductions have ranges between elements, or triangles
};

/// A def as the parser would give it. Fills \p inputs with the rules of its parameters.
KnownDef random_def(Random& random, const RandomOptions& options, const DefRequest& request,
                    std::map<std::string, InputRule>& inputs);

}  // namespace tc::test
