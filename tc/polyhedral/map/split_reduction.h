#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// A reduction in parts that run beside each other: `count` parts of `size` iterations of each iterator that is cut.
/// What is left of an iterator joins the result without a part.
struct ReductionParts {
  struct Cut {
    int iterator = -1;  ///< position in the statement's domain; reduced
    std::int64_t size = 1, count = 1;
  };
  std::string statement;  ///< an accumulating one that reads nothing of what it writes
  std::vector<Cut> cuts;
  bool parts_first = false;  ///< results of one part lie together, rather than the parts of one result

  bool operator==(const ReductionParts&) const;
};

/// \p scop, scheduled by compute_schedule under \p options, with the reduction \p parts in parts. Its cluster becomes
/// up to three: what the reduction needs; the parts, whose number is a coincident iterator; the rest, with the parts
/// combined.
///
///   before  band [i] { I: C[i] = 0 } { band [k]  U: C[i] += A[i, k] } { V: D[i] = C[i] }             0 <= k < 1000
///   after   band [i, p] { U_identity: parts_U[i, p] = 0 } { band [k]  U: parts_U[i, p] += A[i, 64p + k] }     0 <= k < 64
///           band [i] { I: C[i] = 0 } { band [w]  U_combine: C[i] += parts_U[i, w] }                   0 <= w < 15
///                    { band [k]  U_rest: C[i] += A[i, k] }  { V: D[i] = C[i] }                        960 <= k < 1000
///
/// The result does not depend on how many multiprocessors run the parts. Each kernel of a grid can so use all of them.
Scop split_reduction(const Scop& scop, const ReductionParts& parts, const MappingOptions& options);

}  // namespace tc::polyhedral
