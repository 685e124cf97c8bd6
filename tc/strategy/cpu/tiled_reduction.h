#pragma once

#include <cstdint>
#include <vector>

#include "tc/base/contains.h"
#include "tc/base/count_product.h"
#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/map/mapping.h"

namespace tc::strategy {

/// A reduction in a register tile: which outer members are its rows (-1: none) and its columns, along which lanes run.
struct TiledReduction {
  polyhedral::ClusterStatement entry;
  int rows = -1, columns = -1;
};

/// The facts for the choice of copies, blocks and threads of a tiled reduction: the reduction, its machine, and the
/// part of its mapping that is already chosen. Considers reads only. A member is one of the cluster's outer band, a
/// read a position in Statement::reads; the
/// reduction has a loop of its own for each iterator in `reduced`.
struct ReductionView {
  ReductionView(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster, const TiledReduction& tiled,
                const Target& target, const polyhedral::MappingOptions& options,
                const polyhedral::ClusterMapping& mapping);

  const polyhedral::Scop& scop;
  const polyhedral::ClusterView& cluster;
  const polyhedral::ClusterStatement& entry;
  const int rows, columns;
  const polyhedral::Statement& statement;
  const Target& target;
  const polyhedral::MappingOptions& options;
  const polyhedral::ClusterMapping& mapping;
  std::vector<polyhedral::Interval> box;  ///< of the statement's domain
  std::vector<int> reduced;               ///< iterators, outermost first
  std::int64_t volume = 1;                ///< instances that go into one result
  bool matrices = false;                  ///< the register tile is one of matrices
  std::int64_t element_bytes = 4;         ///< of the operands of tiles

  int member_count() const { return static_cast<int>(cluster.members.size()); }
  int read_count() const { return static_cast<int>(statement.reads.size()); }
  int iterator(int member) const { return entry.outer[member]; }
  std::int64_t extent(int member) const { return cluster.members[member].extent(); }
  std::int64_t points(int member) const { return mapping.members[member].points; }
  /// Iterations of \p member in one of its blocks.
  std::int64_t in_block(int member) const;
  /// Members other than rows and columns.
  std::vector<int> others() const;

  std::int64_t stride(int read, int iterator) const {
    return strides_[static_cast<std::size_t>(read)][static_cast<std::size_t>(iterator)];
  }
  bool indexes(int read, int member) const {
    return iterator(member) >= 0 && contains(indices_[static_cast<std::size_t>(read)], iterator(member));
  }

  /// Is any read packed above the loops over blocks, or below them for the block alone?
  bool is_packed(bool below_blocks) const;
  /// Does \p member index a read that is packed there?
  bool indexes_copy(int member, bool below_blocks) const;

  /// Instances that go into one result in one iteration of the reduced loop along \p iterator, at least one.
  std::int64_t inner_volume(int iterator) const;
  /// Instances that go into one result in one block of the reduction.
  std::int64_t depth() const;
  /// The bytes of the second cache, and of the third, that blocks may use.
  std::int64_t near_bytes() const { return target.l2_bytes / 2; }
  std::int64_t far_bytes() const { return target.l3_bytes / 2 / target.cores; }
  /// The bytes of a copy of all rows or all columns, \p member.
  std::int64_t bytes_of_all(int member) const { return count_product(extent(member), volume * element_bytes); }
  /// The rows or columns of a block of \p bytes, at least one.
  std::int64_t iterations_in(std::int64_t bytes) const;

 private:
  std::vector<std::vector<std::int64_t>> strides_;  ///< of each read, along each iterator
  std::vector<std::vector<int>> indices_;           ///< of each read, the iterators that index it
};

}  // namespace tc::strategy
