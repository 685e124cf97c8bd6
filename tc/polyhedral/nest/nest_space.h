#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/shared_bands.h"

namespace tc::polyhedral {

/// What the nests of a cluster depend on beside a mapping, as numbers: nests are made from it without isl, in a
/// microsecond.
struct NestSpace {
  struct Statement {
    ClusterStatement entry;
    std::vector<std::int64_t> extents;  ///< of each iterator
    bool accumulates = false;
    std::vector<int> kept = {};                 ///< of a kernel: the iterators of its result
    std::vector<std::vector<int>> copied = {};  ///< of a kernel: for each read, the iterators that index a copy of it
  };
  std::vector<Interval> members;  ///< the values of each member of the outer band
  std::vector<Statement> statements;
  std::vector<SharedBand> bands;  ///< of a kernel

  /// The position of the statement called \p id; -1 without one.
  int position(const std::string& id) const;
  /// The iterator of statement number \p statement that \p index is; -1 where it is none of its own.
  int iterator(const NestIndex& index, int statement) const;
  /// Is \p index, of a kernel's nest, an iterator over which a statement sums or otherwise accumulates?
  bool is_reduced(const NestIndex& index) const;
  /// Does a loop that runs in order stand around several statements?
  bool has_ordered_loop() const;
  /// The band around several statements whose loop in order runs over \p iterator of statement number \p statement; null: there is none.
  const SharedBand* ordered_band(int statement, int iterator) const;
  /// Of a kernel: does statement number \p statement write one element in each iteration of the loops that it shares with others?
  bool writes_one_in_shared_loops(int statement) const;
  /// How many values \p index takes.
  std::int64_t extent(const NestIndex& index) const;
};

/// The space of the nests of \p cluster on a processor.
NestSpace nest_space(const Scop& scop, const ClusterView& cluster);
/// The space of its nests as a kernel.
NestSpace kernel_nest_space(const Scop& scop, const ClusterView& cluster);

}  // namespace tc::polyhedral
