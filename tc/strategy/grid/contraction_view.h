#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/map/grid_mapping.h"

namespace tc::strategy {

/// A cluster whose one accumulating statement with loops of its own, the update, adds up what two groups of members
/// index: its result is contiguous along the columns, and shares an operand with the rows. Reads only. A read is a
/// position in Statement::reads.
struct ContractionView {
  const polyhedral::Scop& scop;
  const polyhedral::ClusterView& cluster;
  const GridLimits& limits;
  const polyhedral::MappingOptions& options;
  const polyhedral::ClusterStatement& entry;  ///< of the update
  std::vector<polyhedral::Interval> ranges;   ///< of the update's iterators
  std::vector<int> reduced;                   ///< iterators of its own loops
  int rows = -1, columns = -1;                ///< members
  std::vector<std::int64_t> fewest = {};      ///< of each iterator, its values in the runs with the fewest

  const polyhedral::Statement& update() const { return scop.statement(entry.id); }
  int reads() const { return static_cast<int>(update().reads.size()); }
  int iterator(int member) const { return entry.outer[member]; }
  std::int64_t extent(int iterator) const { return ranges.at(iterator).extent(); }
  /// Has the loop over \p iterator enough blocks of \p size in every run that copies run ahead in so many \p slots?
  bool fills(std::int64_t slots, int iterator, std::int64_t size) const {
    return fewest.at(static_cast<std::size_t>(iterator)) > (slots - 2) * size;
  }
  std::int64_t member_extent(int member) const { return cluster.members[member].extent(); }

  /// Does \p read stand in the subscripts of another one?
  bool is_subscript(int read) const;
  /// Does the element that \p read finds depend on \p iterator?
  bool depends_on(int read, int iterator) const;
  /// Is what \p read finds the same for several rows, or for several columns, but not for both?
  bool is_shared(int read) const;
  /// Is it shared by several threads, and may it be copied?
  bool is_copied(int read) const;
};

/// The contraction of \p cluster; nothing where it is of another kind, or where its tiles would change an order that
/// options.batch_invariant fixes, as blocks of one of several reduced loops do.
///
///   I: C(m, n) = 0   U: C(m, n) += A(m, k) B(k, n)        update U, reduced k, rows m, columns n
std::optional<ContractionView> find_contraction(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                                                const GridLimits& limits, const polyhedral::MappingOptions& options);

}  // namespace tc::strategy
