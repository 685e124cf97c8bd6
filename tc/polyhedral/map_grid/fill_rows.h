#pragma once

#include <cstdint>
#include <optional>

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_space.h"

namespace tc::polyhedral {

/// A member of the outer band, whose values are 0 to `last`, and the multiple of values up to which the last tile of it is filled.
struct FilledRows {
  int member = 0;
  std::int64_t last = 0, tile = 1;

  /// All values, those of whole tiles.
  std::int64_t extent() const { return (last / tile + 1) * tile; }
};

/// The rows of a kernel with \p nest that are on threads and no whole tiles, if a loop runs in order around several statements. Nothing
/// where symbolic sizes count them.
std::optional<FilledRows> partial_rows(const NestSpace& space, const Nest& nest);

/// The rows of the kernel with \p nest whose last tile fill_rows fills: they are on threads, in a loop that runs in order, and no whole
/// tiles, and statements of temporaries read what depends on rows without conditions. Nothing where symbolic sizes count them.
std::optional<FilledRows> rows_to_fill(const Scop& scop, const NestSpace& space, const Nest& nest);

/// The kernel \p scop, whose statements of temporaries also run for the \p rows up to a whole tile, of \p space. These rows need the
/// iterations that the last row needs, read the last row of tensors, and nobody reads what they compute. So all threads run
/// alike, and units compute whole tiles.
///
///   before  S[n, b] t[n, b] = ... Q[n], O[n] = t[n, 3]     0 <= n < 197
///   after   S[n, b] t[n, b] = ... Q[min(n, 196)]           0 <= n < 224
///           O[n] = t[n, 3]                                 0 <= n < 197
Scop fill_rows(const Scop& scop, const NestSpace& space, const Nest& nest, const FilledRows& rows);

/// \p space with the rows of fill_rows.
NestSpace filled_space(const Scop& scop, const NestSpace& space, const Nest& nest, const FilledRows& rows);

/// The instances \p domain with those rows, iterator \p iterator.
isl::set filled(const isl::set& domain, int iterator, const FilledRows& rows);

}  // namespace tc::polyhedral
