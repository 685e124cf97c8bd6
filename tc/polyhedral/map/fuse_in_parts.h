#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tc/polyhedral/core/dependences.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// A cluster that runs in parts of `size` iterations of one of its members, and reductions of other clusters over the same
/// range that join it, part by part.
struct FusedParts {
  struct Reduction {
    std::string statement;
    int iterator = -1;  ///< position in the statement's domain; reduced

    bool operator==(const Reduction&) const = default;
  };
  std::size_t cluster = 0;  ///< of cluster_views
  int member = -1;          ///< of its outer band
  std::int64_t size = 1;
  std::vector<Reduction> reductions;

  bool operator==(const FusedParts&) const = default;
};

/// Can \p parts be carried out in \p scop, whose dependences are \p dependences? The member is one iterator, as it is, of
/// every statement of its cluster, with the range of the reduced iterators; a reduction is a plain one of the source,
/// which reads nothing of what it writes; what it needs runs before the cluster, or in the same iteration of the member. What
/// is left of an earlier cluster moves behind, so that nothing there may depend on it.
bool can_fuse_in_parts(const Scop& scop, const Dependences& dependences, const FusedParts& parts);

/// \p scop, scheduled by compute_schedule under \p options, with \p parts in one pass over the member: sums along rows and
/// sums along columns of one tensor read it once. Each part accumulates on its own, so that parts are coincident; the
/// results are joined where the reductions were.
///
///   before  band [n] { S: m[n] += A[n, c] }
///           band [c] { I: C[c] = 0 } { band [n]  U: C[c] += A[n, c] * m[n] }                                0 <= n < 256
///   after   band [p] { band [c]  U_identity: parts_U[p, c] = 0 }
///                    { band [n] { S: m[64p + n] += A[64p + n, c] }
///                               { band [c]  U: parts_U[p, c] += A[64p + n, c] * m[64p + n] } }               0 <= n < 64
///           band [c] { I: C[c] = 0 } { band [w]  U_combine: C[c] += parts_U[w, c] }                          0 <= w < 4
///
/// The last part may be a shorter one. The result does not depend on how many threads run the parts.
Scop fuse_in_parts(const Scop& scop, const FusedParts& parts, const MappingOptions& options);

}  // namespace tc::polyhedral
